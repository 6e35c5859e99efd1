// TLS of a connection to Redis. hiredis verifies a certificate's issuer, but not whose it is: that is asked
// of OpenSSL here.
#pragma once

#include <hiredis/hiredis.h>

#include <string>

namespace contorno {

/// Whether this build has it: with hiredis 1.2 or newer, its library hiredis_ssl, and OpenSSL.
bool has_redis_tls();

/// Begins TLS with a server that must have a certificate for `host`, a name or an address, by an issuer of
/// the file `ca`, or by one of the system's where that is empty. Throws Error(Unavailable) with the reason.
void begin_redis_tls(redisContext& context, const std::string& host, const std::string& ca);

}  // namespace contorno
