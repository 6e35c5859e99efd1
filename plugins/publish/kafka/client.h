// What a producer and a consumer of Kafka have in common: the address with its login, the settings of a
// connection, and the handle.
#pragma once

#include <librdkafka/rdkafka.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "plugins/publish/access.h"

namespace contorno {

/// Throws as access_of, and Error(BadConfig) for a login that Kafka does not take.
BrokerAccess kafka_access(const RouteTarget& target);

/// Error(Unavailable) of this broker.
Error kafka_error(const BrokerAccess& access, std::string_view why);

/// Settings of a client, which take what `set` is given or throw.
class KafkaSettings {
 public:
  KafkaSettings(const BrokerAccess& access, const std::string& ca);
  void set(const char* name, const std::string& value);
  rd_kafka_conf_t* get() const { return settings_.get(); }
  /// A client with them, which owns them then. It must be destroyed by the caller.
  rd_kafka_t* make(rd_kafka_type_t type);

 private:
  struct Destroy {
    void operator()(rd_kafka_conf_t* settings) const { rd_kafka_conf_destroy(settings); }
  };
  const BrokerAccess& access_;
  std::unique_ptr<rd_kafka_conf_t, Destroy> settings_;
};

/// Whether an event says why there is no connection: a login or a certificate that is refused. That all
/// brokers are away, which follows, says less.
inline bool says_why(int code) {
  return code == RD_KAFKA_RESP_ERR__AUTHENTICATION || code == RD_KAFKA_RESP_ERR__SSL;
}

/// Gives each message of the topic, a partition after the other, each to the end that it had when it was
/// begun. Throws Error(Unavailable), Error(MissingInput) where there is no such topic.
void read_kafka(const RouteTarget& target, const TakeBrokerMessage& take);

}  // namespace contorno
