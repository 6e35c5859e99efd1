// The `ops:` section of a graph: where a run answers questions about its state, if it does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pipeline/graph/param.h"

namespace contorno {

struct OpsSettings {
  std::string listen{};       ///< HOST:PORT; empty: nowhere
  bool allow_remote = false;  ///< whether HOST may be another than this machine alone
  double max_lag_ms = 5000;   ///< how old a frame without a result may be in a line that is ready; 0: any age
};
/// The declaration of OpsSettings. A trial refuses a `listen` that is no address, or a remote one.
const ParamDeclaration& ops_params();

/// An address in numbers.
struct ListenAddress {
  std::string host{};  ///< IPv4 or IPv6 address, in numbers
  std::uint16_t port = 0;
  bool is_loopback = false;
};
/// The address in a text like "127.0.0.1:9464", "[::1]:9464" or "localhost:9464"; nothing where the text is
/// no address. Names are not looked up.
std::optional<ListenAddress> listen_address(std::string_view text);

}  // namespace contorno
