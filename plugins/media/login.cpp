#include "plugins/media/login.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"

namespace contorno {
namespace {

/// USER or USER:PASSWORD of an address, empty where it has none.
std::string_view user_part(std::string_view location) {
  const std::size_t begin = location.find("://") + 3;
  const std::string_view place = location.substr(begin, location.find('/', begin) - begin);
  const std::size_t at = place.rfind('@');
  return at == std::string_view::npos ? std::string_view() : place.substr(0, at);
}

}  // namespace

Credentials stream_login(const std::string& location, const std::string& credentials) {
  const auto refuse = [](const char* what) { throw Error(ExitCode::BadConfig, what); };
  const bool may_log_in = location.starts_with("rtsp") || location.starts_with("http");
  if (!may_log_in || location.find("://") == std::string::npos)
    refuse("credentials are for an address that is logged in to: rtsp://, rtsps://, http:// or https://");
  const std::string_view user = user_part(location);
  const std::size_t colon = std::min(user.find(':'), user.size());
  const bool has_password = colon < user.size();
  Credentials login = login_of({.user = std::string(user.substr(0, colon)),
                                .password = std::string(user.substr(colon + (has_password ? 1 : 0)))},
                               credentials);
  if (!login.mechanism.empty())
    refuse("the file of credentials has a mechanism, and streams have none; leave it out");
  if (login.user.empty())
    refuse("a login has a user: write user=NAME into the file of credentials, beside password=");
  return login;
}

std::string without_user(const std::string& location) {
  const std::string_view user = user_part(location);
  std::string place = location;
  if (!user.empty()) place.erase(place.find("://") + 3, user.size() + 1);
  return place;
}

}  // namespace contorno
