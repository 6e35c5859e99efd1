#include "pipeline/run/ops_settings.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <array>
#include <charconv>

#include "pipeline/shared/printable.h"

namespace contorno {
namespace {

bool is_number_of(int family, const std::string& host, unsigned char* bytes) {
  return ::inet_pton(family, host.c_str(), bytes) == 1;
}

}  // namespace

std::optional<ListenAddress> listen_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view digits = text.substr(colon + 1);
  ListenAddress address;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const bool is_bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (is_bracketed) host = host.substr(1, host.size() - 2);
  address.host = host == "localhost" ? "127.0.0.1" : host;
  constexpr std::array<unsigned char, 16> kLoopback6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  constexpr unsigned char kLoopback4 = 127;
  std::array<unsigned char, 16> bytes{};
  if (is_bracketed) {
    if (!is_number_of(AF_INET6, address.host, bytes.data())) return std::nullopt;
    address.is_loopback = bytes == kLoopback6;
  } else {
    if (!is_number_of(AF_INET, address.host, bytes.data())) return std::nullopt;
    address.is_loopback = bytes[0] == kLoopback4;
  }
  return address;
}

const ParamDeclaration& ops_params() {
  static const ParamDeclaration declaration = [] {
    using P = OpsSettings;
    ParamList<P> list;
    list.text("listen", &P::listen,
              "Where contorno run answers GET of /metrics, /healthz and /readyz, as 127.0.0.1:9464; port 0 "
              "takes a free one; empty: nowhere.")
        .flag("allow_remote", &P::allow_remote,
              "Allows an address that other machines reach: whoever does may read it.")
        .number(
            "max_lag", &P::max_lag_ms, 0, 3.6e6, Unit::Milliseconds,
            "How old a camera's oldest frame without a result may be in a line that is ready; 0: any age.");
    return declare(std::move(list), [](const P& params, const ParamTrial& trial) {
      if (params.listen.empty()) return;
      const std::optional<ListenAddress> address = listen_address(params.listen);
      if (!address)
        trial.refuse("listen", ExitCode::BadConfig,
                     fmt::format("listen is '{}', allowed is an address in numbers and a port of 0 to 65535: "
                                 "127.0.0.1:9464, [::1]:9464",
                                 printable(params.listen, 100)));
      else if (!address->is_loopback && !params.allow_remote)
        trial.refuse("listen", ExitCode::BadConfig,
                     fmt::format("listen is {}, which other machines may reach; allowed are 127.0.0.1 and "
                                 "[::1], or any with 'allow_remote: true'",
                                 params.listen));
    });
  }();
  return declaration;
}

}  // namespace contorno
