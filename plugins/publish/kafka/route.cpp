// The route to Kafka: the topic PREFIX, with the camera as the key, so that its messages are in one
// partition.
#include <librdkafka/rdkafka.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "pipeline/shared/clock.h"
#include "pipeline/shared/module.h"
#include "plugins/publish/kafka/client.h"
#include "plugins/publish/outbox.h"
#include "plugins/publish/outbox/batch_size.h"
#include "plugins/publish/outbox/planted.h"

namespace contorno {
namespace {

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
    const std::span<const RouteMessage> request = one_request(messages);
    Sent sent = send_together(request);
    if (sent.refused.empty()) return sent;
    begin();  // a producer that has failed a message takes no more
    if (sent.count > 0) return {.count = sent.count};
    // A broker refuses a request as a whole: whether its first message is too large shows when it is alone.
    if (request.size() > 1) sent = send_together(request.first(1));
    if (!sent.refused.empty()) begin();
    return sent;
  }

 private:
  /// The first messages, as many as fit into one request: below what the client puts together (batch.size)
  /// and what a broker takes unless it is told otherwise (message.max.bytes), both about a megabyte.
  static std::span<const RouteMessage> one_request(std::span<const RouteMessage> messages) {
    constexpr std::size_t kMostBytes = 900'000, kHeader = 100;
    const std::size_t count = outbox::count_within(messages.size(), kMostBytes, [&](std::size_t i) {
      return messages[i].body.size() + messages[i].camera.size() + kHeader;
    });
    return messages.first(count);
  }

  /// A new producer in place of the old one.
  void begin() {
    producer_.reset();
    KafkaSettings settings(access_, ca_);
    settings.set("enable.idempotence", "true");
    settings.set("acks", "all");
    settings.set("message.timeout.ms", "0");
    // Nothing comes behind a request that fails: no message overtakes another.
    if (!outbox::is_planted("report passed over")) {
      settings.set("enable.gapless.guarantee", "true");
      settings.set("max.in.flight.requests.per.connection", "1");
    }
    // Messages of a camera that are sent together are one request, which is taken or fails as a whole: of two
    // the second would be under way before anybody learns that the first has failed. They leave by the flush.
    settings.set("linger.ms", "60000");
    settings.set("message.max.bytes", "1000000000");  // the broker's limit counts, which a topic may raise
    rd_kafka_conf_set_error_cb(settings.get(), [](rd_kafka_t*, int code, const char* reason, void* self) {
      if (says_why(code)) static_cast<KafkaRoute*>(self)->reason_ = reason;
    });
    rd_kafka_conf_set_dr_msg_cb(settings.get(), report);
    rd_kafka_conf_set_opaque(settings.get(), this);
    producer_.reset(settings.make(RD_KAFKA_PRODUCER));
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
      // The report of a message before it says why.
      if (code == RD_KAFKA_RESP_ERR__FATAL && i > 0) break;
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
      // Of a message for the topic, or of a request for a segment of its log.
      route.too_large_ = message->err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE ||
                         message->err == RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE;
    }
  }

  /// Until all reports have come. How many of them from the first are good: none behind one that failed.
  std::size_t wait() {
    constexpr int kLookMilliseconds = 20;
    const std::int64_t since = now_ns();
    std::size_t done = 0;
    while (failure_.empty() && done < reported_.size()) {
      rd_kafka_flush(producer_.get(), kLookMilliseconds);
      while (done < reported_.size() && reported_[done]) ++done;
      if (now_ns() - since > limit_ns_) failure_ = "it does not answer in time";
    }
    // The next send must not go on with this producer.
    if (done < reported_.size() && !too_large_) throw unavailable(failure_);
    return done;
  }

  Error unavailable(std::string_view why) const { return kafka_error(access_, why); }
  void check(rd_kafka_resp_err_t code) const {
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) throw unavailable(rd_kafka_err2str(code));
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
                                  },
                                  .read = read_kafka};

}  // namespace
}  // namespace contorno

CONTORNO_MODULE(contorno::kKafkaTable);
