// The login of a route as a file of its own, so that no graph has to hold it. Compiled into the library,
// which tries the file before a run, and into each route's module, which reads it again for every connection:
// a new password is taken without a restart. What the file holds is never part of a message.
#pragma once

#include <string>

#include "plugins/publish/address.h"
#include "plugins/publish/outbox.h"

namespace contorno {

struct Credentials {
  std::string user{}, password{};
  std::string mechanism{};  ///< of SASL, for Kafka; empty: the usual one
};

/// Reads the file that `given` means: a name without '/' in the folder $CREDENTIALS_DIRECTORY, else a path.
/// Its lines are user=NAME, password=SECRET, mechanism=WORD, or the one line is the password. Throws
/// Error(MissingInput) where it cannot be read, Error(BadConfig) where others may read it, or it has no
/// password, more than 4096 bytes, a control character or another line.
Credentials read_credentials(const std::string& given);

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
