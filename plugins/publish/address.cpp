#include "plugins/publish/address.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"

namespace contorno {
namespace {

std::string unescaped(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const bool escaped =
        text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16).ptr == text.data() + i + 3;
    bytes += escaped ? static_cast<char>(byte) : text[i];
    if (escaped) i += 2;
  }
  return bytes;
}

}  // namespace

BrokerAddress parse_address(std::string_view text, const AddressScheme& scheme) {
  const auto refuse = [&](std::string_view what) {
    throw Error(
        ExitCode::BadConfig,
        fmt::format("{}; wanted {}://[USER:PASSWORD@]HOST[:PORT]/NAME (or {}:// with TLS), with letters, "
                    "digits, '.', '_', '-' and ':' in NAME",
                    what, scheme.plain, scheme.tls));
  };
  const std::string head = fmt::format("{}://", scheme.plain), tls_head = fmt::format("{}://", scheme.tls);
  const bool has_tls = text.starts_with(tls_head);
  if (!has_tls && !text.starts_with(head))
    refuse(fmt::format("the address does not begin with {} or {}", head, tls_head));
  text.remove_prefix(has_tls ? tls_head.size() : head.size());
  BrokerAddress address{.port = has_tls ? scheme.tls_port : scheme.plain_port, .has_tls = has_tls};
  if (const std::size_t slash = text.rfind('/');
      slash != std::string_view::npos && slash > text.rfind('@') + 1) {
    address.path = text.substr(slash + 1);
    text = text.substr(0, slash);
  }
  if (const std::size_t at = text.rfind('@'); at != std::string_view::npos) {
    const std::string_view login = text.substr(0, at);
    const std::size_t colon = login.find(':');
    address.user = unescaped(login.substr(0, colon));
    if (colon != std::string_view::npos) address.password = unescaped(login.substr(colon + 1));
    text.remove_prefix(at + 1);
  }
  // [::1]:6379 has colons of its own.
  const std::size_t bracket = text.starts_with('[') ? text.find(']') : 0;
  if (bracket == std::string_view::npos) refuse("the host has no ']'");
  const std::size_t colon = text.find(':', bracket);
  if (bracket > 0 && bracket + 1 < text.size() && colon != bracket + 1)
    refuse("behind the host's ']' is neither ':' nor '/'");
  address.host = text.starts_with('[') ? text.substr(1, bracket - 1) : text.substr(0, colon);
  if (address.host.empty()) refuse("the address has no host");
  if (colon != std::string_view::npos) {
    const std::string_view port = text.substr(colon + 1);
    const auto read = std::from_chars(port.data(), port.data() + port.size(), address.port);
    constexpr int kMost = 65535;
    if (read.ptr != port.data() + port.size() || read.ec != std::errc() || address.port < 1 ||
        address.port > kMost)
      refuse(fmt::format("the port is '{}', allowed 1 to {}", port, kMost));
  }
  for (const char c : address.path) {
    const bool is_fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                         c == '.' || c == '_' || c == '-' || c == ':';
    if (!is_fine) refuse("the name behind the host has other letters");
  }
  if (address.path.empty()) refuse("the address has no name behind the host");
  return address;
}

}  // namespace contorno
