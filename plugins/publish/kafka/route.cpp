// The route to Kafka: the topic PREFIX, with the camera as the key, so that its messages are in one
// partition.
#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "pipeline/shared/clock.h"
#include "pipeline/shared/module.h"
#include "plugins/publish/credentials.h"
#include "plugins/publish/outbox.h"
#include "plugins/publish/outbox/planted.h"

namespace contorno {
namespace {

constexpr AddressScheme kKafkaScheme{
    .plain = "kafka", .tls = "kafka+ssl", .plain_port = 9092, .tls_port = 9093, .has_mechanisms = true};
constexpr std::string_view kPlain = "PLAIN";
constexpr std::array<std::string_view, 3> kMechanisms{kPlain, "SCRAM-SHA-256", "SCRAM-SHA-512"};

BrokerAccess kafka_access(const RouteTarget& target) {
  const auto refuse = [](const char* what) { throw Error(ExitCode::BadConfig, what); };
  BrokerAccess access = access_of(target, kKafkaScheme);
  Credentials& login = access.login;
  if (login.password.empty()) return access;
  if (login.user.empty()) refuse("a login of Kafka has a user, and only a password is given");
  if (login.mechanism.empty()) login.mechanism = kPlain;
  if (std::find(kMechanisms.begin(), kMechanisms.end(), login.mechanism) == kMechanisms.end())
    refuse("the mechanism of the file of credentials is none of PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512");
  if (login.mechanism == kPlain && !access.address.has_tls)
    refuse(
        "PLAIN, the mechanism of the login, sends the password as it is: begin the address with "
        "kafka+ssl://, or let the file of credentials have mechanism=SCRAM-SHA-256 or SCRAM-SHA-512");
  return access;
}

struct DestroyProducer {
  void operator()(rd_kafka_t* producer) const {
    rd_kafka_purge(producer,
                   RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT | RD_KAFKA_PURGE_F_NON_BLOCKING);
    rd_kafka_destroy_flags(producer, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
  }
};

/// A producer is used until the first report of a delivery that has an error, fatal or not: the client fails
/// some messages for good and goes on with those behind them. The next producer begins from the cursor; what
/// comes twice has its key.
class KafkaRoute final : public Route {
 public:
  explicit KafkaRoute(const RouteTarget& target)
      : access_(kafka_access(target)),
        ca_(target.ca),
        limit_ns_(static_cast<std::int64_t>(target.timeout_ms * 1e6)) {
    begin();
    const struct rd_kafka_metadata* found = nullptr;
    const rd_kafka_resp_err_t code =
        rd_kafka_metadata(producer_.get(), 0, nullptr, &found, static_cast<int>(target.timeout_ms));
    if (found != nullptr) rd_kafka_metadata_destroy(found);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return;
    // Why there is no connection comes as an event.
    constexpr int kNow = 0;
    rd_kafka_poll(producer_.get(), kNow);
    if (!reason_.empty()) throw unavailable(reason_);
    check(code);
  }

  Sent send(std::span<const RouteMessage> messages) override {
    Sent sent = send_together(messages);
    if (sent.refused.empty()) return sent;
    begin();  // a producer that has failed a message takes no more
    if (sent.count > 0) return {.count = sent.count};
    // A broker refuses a request as a whole: whether its first message is too large shows when it is alone.
    if (messages.size() > 1) sent = send_together(messages.first(1));
    if (!sent.refused.empty()) begin();
    return sent;
  }

 private:
  /// A new producer in place of the old one.
  void begin() {
    producer_.reset();
    rd_kafka_conf_t* const settings = rd_kafka_conf_new();
    set(settings, "bootstrap.servers", access_.address.place());
    set(settings, "enable.idempotence", "true");
    set(settings, "acks", "all");
    set(settings, "message.timeout.ms", "0");
    // Nothing comes behind a request that fails: no message overtakes another.
    if (!outbox::is_planted("report passed over")) {
      set(settings, "enable.gapless.guarantee", "true");
      set(settings, "max.in.flight.requests.per.connection", "1");
    }
    set(settings, "linger.ms", "0");
    set(settings, "message.max.bytes", "1000000000");  // the broker's limit counts, which a topic may raise
    set(settings, "log_level", "0");
    set_security(settings);
    rd_kafka_conf_set_error_cb(settings, [](rd_kafka_t*, int code, const char* reason, void* self) {
      // Of a login or certificate that is refused: that all brokers are away, which follows, says less.
      if (code == RD_KAFKA_RESP_ERR__AUTHENTICATION || code == RD_KAFKA_RESP_ERR__SSL)
        static_cast<KafkaRoute*>(self)->reason_ = reason;
    });
    rd_kafka_conf_set_dr_msg_cb(settings, report);
    rd_kafka_conf_set_opaque(settings, this);
    std::array<char, 256> why{};
    producer_.reset(rd_kafka_new(RD_KAFKA_PRODUCER, settings, why.data(), why.size()));
    if (!producer_) {
      rd_kafka_conf_destroy(settings);
      throw unavailable(why.data());
    }
  }

  void set_security(rd_kafka_conf_t* settings) const {
    const Credentials& login = access_.login;
    const bool has_login = !login.password.empty();
    set(settings, "security.protocol",
        fmt::format("{}{}", has_login ? "sasl_" : "", access_.address.has_tls ? "ssl" : "plaintext"));
    if (has_login) {
      set(settings, "sasl.mechanisms", login.mechanism);
      set(settings, "sasl.username", login.user);
      set(settings, "sasl.password", login.password);
    }
    if (!access_.address.has_tls) return;
    set(settings, "enable.ssl.certificate.verification", "true");
    set(settings, "ssl.endpoint.identification.algorithm", "https");
    if (!ca_.empty()) set(settings, "ssl.ca.location", ca_);
  }

  /// `refused` is set where the broker takes no message of this size; `count` is of those before it.
  Sent send_together(std::span<const RouteMessage> messages) {
    reported_.assign(messages.size(), false);
    failure_.clear();
    too_large_ = false;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const RouteMessage& message = messages[i];
      const rd_kafka_resp_err_t code =
          rd_kafka_producev(producer_.get(), RD_KAFKA_V_TOPIC(access_.address.path.c_str()),
                            RD_KAFKA_V_KEY(message.camera.data(), message.camera.size()),
                            RD_KAFKA_V_VALUE(const_cast<char*>(message.body.data()), message.body.size()),
                            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                            RD_KAFKA_V_OPAQUE(reinterpret_cast<void*>(i)), RD_KAFKA_V_END);
      check(code);
    }
    const std::size_t done = wait();
    return {.count = done, .refused = too_large_ ? failure_ : std::string()};
  }

  static void report(rd_kafka_t*, const rd_kafka_message_t* message, void* self) {
    auto& route = *static_cast<KafkaRoute*>(self);
    const auto place = reinterpret_cast<std::size_t>(message->_private);
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR || outbox::is_planted("report passed over")) {
      if (place < route.reported_.size()) route.reported_[place] = true;
    } else if (route.failure_.empty()) {
      route.failure_ = rd_kafka_err2str(message->err);
      route.too_large_ = message->err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE;
    }
  }

  /// Until all reports have come. How many of them from the first are good: none behind one that failed.
  std::size_t wait() {
    constexpr int kLookMilliseconds = 20;
    const std::int64_t since = now_ns();
    std::size_t done = 0;
    while (failure_.empty() && done < reported_.size()) {
      rd_kafka_poll(producer_.get(), kLookMilliseconds);
      while (done < reported_.size() && reported_[done]) ++done;
      if (now_ns() - since > limit_ns_) failure_ = "it does not answer in time";
    }
    // The next send must not go on with this producer.
    if (done < reported_.size() && !too_large_) throw unavailable(failure_);
    return done;
  }

  Error unavailable(std::string_view why) const {
    return Error(ExitCode::Unavailable, fmt::format("Kafka at {}: {}", access_.address.place(), why));
  }
  void check(rd_kafka_resp_err_t code) const {
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) throw unavailable(rd_kafka_err2str(code));
  }
  void set(rd_kafka_conf_t* settings, const char* name, const std::string& value) const {
    std::array<char, 256> why{};
    if (rd_kafka_conf_set(settings, name, value.c_str(), why.data(), why.size()) != RD_KAFKA_CONF_OK) {
      rd_kafka_conf_destroy(settings);
      throw unavailable(why.data());
    }
  }

  BrokerAccess access_;
  std::string ca_;
  std::string reason_;  // why there is no connection
  std::int64_t limit_ns_;
  std::vector<bool> reported_;  // by the place in the batch
  std::string failure_;         // of the first message that was not taken
  bool too_large_ = false;      // that is its reason
  std::unique_ptr<rd_kafka_t, DestroyProducer> producer_;
};

constexpr RouteModule kKafkaTable{.check = [](const RouteTarget& target) { kafka_access(target); },
                                  .connect = [](const RouteTarget& target) -> std::unique_ptr<Route> {
                                    return std::make_unique<KafkaRoute>(target);
                                  }};

}  // namespace
}  // namespace contorno

CONTORNO_MODULE(contorno::kKafkaTable);
