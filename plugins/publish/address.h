// The addresses of brokers: SCHEME://[USER[:PASSWORD]@]HOST[:PORT][/PATH]. Compiled into each route's module.
#pragma once

#include <string>
#include <string_view>

namespace contorno {

struct BrokerAddress {
  std::string user{}, password{}, host{}, path{};
  int port = 0;
  /// "HOST:PORT", for messages: without secrets.
  std::string place() const { return host + ":" + std::to_string(port); }
};

/// Parts of an address; %XX in user and password stands for a byte. Throws Error(BadConfig) with what is
/// allowed.
BrokerAddress parse_address(std::string_view text, std::string_view scheme, int usual_port);

}  // namespace contorno
