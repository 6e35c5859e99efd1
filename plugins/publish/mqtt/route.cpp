// The route to a broker of MQTT: the topic PREFIX/CAMERA, QoS 1. A message is brought when its PUBACK has
// come.
#include <fmt/format.h>
#include <mosquitto.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "pipeline/shared/clock.h"
#include "pipeline/shared/module.h"
#include "plugins/publish/access.h"
#include "plugins/publish/mqtt/reach.h"
#include "plugins/publish/outbox.h"

namespace contorno {
namespace {

constexpr AddressScheme kMqttScheme{.plain = "mqtt", .tls = "mqtts", .plain_port = 1883, .tls_port = 8883};
constexpr int kKeepAlive = 30;  // s

BrokerAccess mqtt_access(const RouteTarget& target) {
  BrokerAccess access = access_of(target, kMqttScheme);
  if (access.login.user.empty() && !access.login.password.empty())
    throw Error(ExitCode::BadConfig, "a login of MQTT has a user, and only a password is given");
  return access;
}

struct DestroyClient {
  void operator()(mosquitto* client) const { mosquitto_destroy(client); }
};

/// All calls and callbacks are on the thread of the publisher: the library's loop is run in send() and
/// idle().
class MqttRoute final : public Route {
 public:
  explicit MqttRoute(const RouteTarget& target) : MqttRoute(target, mqtt_access(target)) {}
  MqttRoute(const RouteTarget& target, const BrokerAccess& access)
      : address_(access.address), limit_ns_(static_cast<std::int64_t>(target.timeout_ms * 1e6)) {
    static const int initialised = mosquitto_lib_init();
    check(initialised);
    // Every connection is a new client: what an old one did not get acknowledged is sent again from the
    // cursor.
    client_.reset(mosquitto_new(nullptr, true, this));
    if (!client_) throw unavailable("out of memory");
    if (const Credentials& login = access.login; !login.user.empty())
      check(mosquitto_username_pw_set(client_.get(), login.user.c_str(), login.password.c_str()));
    if (address_.has_tls) begin_tls(target.ca);
    // Why the library refuses a certificate is in its log alone.
    mosquitto_log_callback_set(client_.get(), [](mosquitto*, void* self, int level, const char* text) {
      if (level == MOSQ_LOG_ERR) static_cast<MqttRoute*>(self)->reason_ = text;
    });
    mosquitto_connect_callback_set(client_.get(), [](mosquitto*, void* self, int code) {
      static_cast<MqttRoute*>(self)->connected_ = code;
    });
    mosquitto_publish_callback_set(client_.get(), [](mosquitto*, void* self, int id) {
      static_cast<MqttRoute*>(self)->acknowledged_.insert(id);
    });
    if (const std::string why = why_unreachable(address_.host, address_.port, limit_ns_); !why.empty())
      throw unavailable(why);
    check(mosquitto_connect(client_.get(), address_.host.c_str(), address_.port, kKeepAlive));
    wait([this] { return connected_ >= 0; });
    if (connected_ != 0) throw unavailable(mosquitto_connack_string(connected_));
  }

  /// Sends what keeps the connection alive, and answers the broker.
  void idle() override {
    constexpr int kNow = 0;
    check(mosquitto_loop(client_.get(), kNow, 1));
  }

  Sent send(std::span<const RouteMessage> messages) override {
    acknowledged_.clear();
    std::vector<int> ids;
    for (const RouteMessage& message : messages) {
      const std::string topic = fmt::format("{}/{}", address_.path, message.camera);
      constexpr int kAtLeastOnce = 1;
      int id = 0;
      const int code =
          mosquitto_publish(client_.get(), &id, topic.c_str(), static_cast<int>(message.body.size()),
                            message.body.data(), kAtLeastOnce, false);
      if (code == MOSQ_ERR_PAYLOAD_SIZE || code == MOSQ_ERR_OVERSIZE_PACKET) {
        if (ids.empty()) return {.count = 0, .refused = mosquitto_strerror(code)};
        break;  // those before it first
      }
      check(code);
      ids.push_back(id);
    }
    const auto are_acknowledged = [&] {
      return std::all_of(ids.begin(), ids.end(), [&](int id) { return acknowledged_.contains(id); });
    };
    wait(are_acknowledged);
    return {.count = ids.size()};
  }

 private:
  Error unavailable(std::string_view why) const {
    return Error(ExitCode::Unavailable, fmt::format("MQTT at {}: {}", address_.place(), why));
  }
  void check(int code) const {
    // A handshake that fails is a protocol error to libmosquitto 2.0.21, and one of TLS to earlier ones.
    const bool is_of_tls = code == MOSQ_ERR_TLS || (address_.has_tls && connected_ < 0);
    if (code != MOSQ_ERR_SUCCESS && is_of_tls && !reason_.empty())
      throw unavailable(fmt::format("TLS: {}", reason_));
    if (code != MOSQ_ERR_SUCCESS) throw unavailable(mosquitto_strerror(code));
  }

  /// Name and issuer of the certificate are verified, as is the library's default.
  void begin_tls(const std::string& ca) {
    if (ca.empty())
      check(mosquitto_int_option(client_.get(), MOSQ_OPT_TLS_USE_OS_CERTS, 1));
    else
      check(mosquitto_tls_set(client_.get(), ca.c_str(), nullptr, nullptr, nullptr, nullptr));
  }

  /// Runs the library's loop until `done()`.
  template <class Done>
  void wait(const Done& done) {
    constexpr int kLookMilliseconds = 20;
    const std::int64_t since = now_ns();
    while (!done()) {
      check(mosquitto_loop(client_.get(), kLookMilliseconds, 1));
      if (now_ns() - since > limit_ns_) throw unavailable("it does not answer in time");
    }
  }

  BrokerAddress address_;
  std::int64_t limit_ns_;
  int connected_ = -1;          // the code of CONNACK
  std::string reason_;          // what the library last called an error
  std::set<int> acknowledged_;  // ids of messages
  std::unique_ptr<mosquitto, DestroyClient> client_;
};

constexpr RouteModule kMqttTable{.check = [](const RouteTarget& target) { mqtt_access(target); },
                                 .connect = [](const RouteTarget& target) -> std::unique_ptr<Route> {
                                   return std::make_unique<MqttRoute>(target);
                                 }};

}  // namespace
}  // namespace contorno

CONTORNO_MODULE(contorno::kMqttTable);
