// The addresses of brokers: SCHEME://[USER[:PASSWORD]@]HOST[:PORT][/PATH]. Compiled into each route's module.
#pragma once

#include <string>
#include <string_view>

namespace contorno {

struct BrokerAddress {
  std::string user{}, password{}, host{}, path{};
  int port = 0;
  bool has_tls = false;
  /// "HOST:PORT" or "[HOST]:PORT", without secrets.
  std::string place() const {
    const bool is_ip6 = host.find(':') != std::string::npos;
    return (is_ip6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
  }
};

/// How addresses of a kind of broker begin, and the ports that they have where none is given.
struct AddressScheme {
  std::string_view plain{}, tls{};
  int plain_port = 0, tls_port = 0;
  bool has_mechanisms = false;  ///< a login may say which mechanism of SASL it is for
};

/// Parts of an address; %XX in user and password stands for a byte. Throws Error(BadConfig) with what is
/// allowed.
BrokerAddress parse_address(std::string_view text, const AddressScheme& scheme);

}  // namespace contorno
