// How a route comes to its broker: the address of a target with the login that belongs to it.
#pragma once

#include "plugins/publish/address.h"
#include "plugins/publish/outbox.h"
#include "plugins/shared/credentials.h"

namespace contorno {

/// Where a broker is, and how to log in.
struct BrokerAccess {
  BrokerAddress address{};
  Credentials login{};  ///< without a user and a password: none
};

/// That of a target. Its login is in the address or in the file, but for the user of a file without one,
/// which may stand in the address. Throws as parse_address and read_credentials, and Error(BadConfig) where
/// both have a password or a user, or something is given that this kind of broker, or a line without TLS,
/// does not have.
BrokerAccess access_of(const RouteTarget& target, const AddressScheme& scheme);

}  // namespace contorno
