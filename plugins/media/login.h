// The login of a network stream that is in a file of its own. Compiled into the library, which tries it
// before a run, and into the module gst, which reads it again for every connection.
#pragma once

#include <string>

#include "plugins/shared/credentials.h"

namespace contorno {

/// User and password for the stream at `location`, whose file of credentials is `credentials`. The user may
/// stand in the address, too. Throws as read_credentials, and Error(BadConfig) where the location is none
/// that is logged in to (rtsp://, http:// and their kin), has a password or a second user, or no user is
/// given.
Credentials stream_login(const std::string& location, const std::string& credentials);
/// The location without a user, who belongs to the login: GStreamer takes no user without a password.
std::string without_user(const std::string& location);

}  // namespace contorno
