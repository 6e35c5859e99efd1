// A login as a file of its own, so that no graph has to hold it. Compiled into the library, which tries the
// file before a run, and into each module that logs in, which reads it again for every connection: a new
// password is taken without a restart. What the file holds is never part of a message.
#pragma once

#include <string>

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

/// The login of an address (`in_address`, empty where it has none) with a file of credentials: the file's,
/// with the user of the address where the file has none. Throws as read_credentials, and Error(BadConfig)
/// where both have a password, or both a user.
Credentials login_of(const Credentials& in_address, const std::string& file);

}  // namespace contorno
