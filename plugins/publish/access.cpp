#include "plugins/publish/access.h"

#include <fmt/format.h>

#include <string>

#include "base/error.h"

namespace contorno {

BrokerAccess access_of(const RouteTarget& target, const AddressScheme& scheme) {
  const auto refuse = [](const std::string& what) { throw Error(ExitCode::BadConfig, what); };
  BrokerAccess access{.address = parse_address(target.address, scheme)};
  const BrokerAddress& address = access.address;
  if (!target.ca.empty() && !address.has_tls)
    refuse(fmt::format(
        "an address that begins with {}:// has no TLS, and so nothing to be verified by a file of "
        "issuers; write {}://, or leave the file out",
        scheme.plain, scheme.tls));
  access.login = {.user = address.user, .password = address.password};
  if (target.credentials.empty()) return access;
  access.login = login_of(access.login, target.credentials);
  if (!access.login.mechanism.empty() && !scheme.has_mechanisms)
    refuse(fmt::format("the file of credentials has a mechanism, and {}:// has none; leave it out",
                       scheme.plain));
  return access;
}

}  // namespace contorno
