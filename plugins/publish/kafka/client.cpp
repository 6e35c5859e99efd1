#include "plugins/publish/kafka/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace contorno {
namespace {

constexpr AddressScheme kKafkaScheme{
    .plain = "kafka", .tls = "kafka+ssl", .plain_port = 9092, .tls_port = 9093, .has_mechanisms = true};
constexpr std::string_view kPlain = "PLAIN";
constexpr std::array<std::string_view, 3> kMechanisms{kPlain, "SCRAM-SHA-256", "SCRAM-SHA-512"};

}  // namespace

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

Error kafka_error(const BrokerAccess& access, std::string_view why) {
  return Error(ExitCode::Unavailable, fmt::format("Kafka at {}: {}", access.address.place(), why));
}

KafkaSettings::KafkaSettings(const BrokerAccess& access, const std::string& ca)
    : access_(access), settings_(rd_kafka_conf_new()) {
  set("bootstrap.servers", access.address.place());
  // What matters comes as an error or a report; the library's own lines are none of this program's log.
  rd_kafka_conf_set_log_cb(settings_.get(), [](const rd_kafka_t*, int, const char*, const char*) {});
  const Credentials& login = access.login;
  const bool has_login = !login.password.empty();
  set("security.protocol",
      fmt::format("{}{}", has_login ? "sasl_" : "", access.address.has_tls ? "ssl" : "plaintext"));
  if (has_login) {
    set("sasl.mechanisms", login.mechanism);
    set("sasl.username", login.user);
    set("sasl.password", login.password);
  }
  if (!access.address.has_tls) return;
  set("enable.ssl.certificate.verification", "true");
  set("ssl.endpoint.identification.algorithm", "https");
  if (!ca.empty()) set("ssl.ca.location", ca);
}

void KafkaSettings::set(const char* name, const std::string& value) {
  std::array<char, 256> why{};
  if (rd_kafka_conf_set(settings_.get(), name, value.c_str(), why.data(), why.size()) != RD_KAFKA_CONF_OK)
    throw kafka_error(access_, why.data());
}

rd_kafka_t* KafkaSettings::make(rd_kafka_type_t type) {
  std::array<char, 256> why{};
  rd_kafka_t* const client = rd_kafka_new(type, settings_.get(), why.data(), why.size());
  if (client == nullptr) throw kafka_error(access_, why.data());
  static_cast<void>(settings_.release());  // the client's now
  return client;
}

}  // namespace contorno
