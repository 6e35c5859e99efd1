#include "plugins/shared/credentials.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace contorno {
namespace {

constexpr std::size_t kMostCredentials = 4096;

// Sentences name neither the file nor what is in it: somebody may have written the password in place of the
// name.
[[noreturn]] void refuse_credentials(ExitCode code, std::string_view what) {
  throw Error(code, fmt::format("the file of credentials {}", what));
}

struct CredentialsFile {
  int descriptor = -1;
  explicit CredentialsFile(const std::string& path)
      : descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  CredentialsFile(const CredentialsFile&) = delete;
  CredentialsFile& operator=(const CredentialsFile&) = delete;
  ~CredentialsFile() {
    if (descriptor >= 0) ::close(descriptor);
  }
};

/// The path that is meant, and in `where` how to say so.
std::string credentials_path(const std::string& given, std::string& where) {
  if (given.find('/') != std::string::npos) return given;
  const char* const folder = std::getenv("CREDENTIALS_DIRECTORY");
  if (folder == nullptr || *folder == '\0')
    refuse_credentials(ExitCode::MissingInput,
                       "has a name without '/', which stands for one in the folder $CREDENTIALS_DIRECTORY, "
                       "and that is not set; write ./NAME for another file");
  where = fmt::format(" in $CREDENTIALS_DIRECTORY ({})", folder);
  return fmt::format("{}/{}", folder, given);
}

std::string credentials_text(const std::string& given) {
  std::string where;
  const CredentialsFile file(credentials_path(given, where));
  struct stat status {};
  if (file.descriptor < 0 || ::fstat(file.descriptor, &status) != 0)
    refuse_credentials(ExitCode::MissingInput,
                       fmt::format("cannot be read{}: {}", where, std::strerror(errno)));
  if (!S_ISREG(status.st_mode)) refuse_credentials(ExitCode::BadConfig, "is no regular file");
  // A folder of credentials is guarded by who made it.
  if (where.empty() && (status.st_mode & (S_IROTH | S_IWOTH)) != 0)
    refuse_credentials(ExitCode::BadConfig,
                       fmt::format("may be read or written by everybody (its mode is {:04o}); chmod o-rw",
                                   static_cast<unsigned>(status.st_mode) & 07777U));
  std::array<char, kMostCredentials + 1> bytes{};
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t got = ::read(file.descriptor, bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      refuse_credentials(ExitCode::MissingInput,
                         fmt::format("cannot be read{}: {}", where, std::strerror(errno)));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > kMostCredentials)
    refuse_credentials(ExitCode::BadConfig, fmt::format("has more than {} bytes", kMostCredentials));
  return {bytes.data(), size};
}

/// Where the value of a line goes, null for a line without a key.
std::string* credentials_value(std::string_view key, Credentials& credentials) {
  if (key == "user") return &credentials.user;
  if (key == "password") return &credentials.password;
  if (key == "mechanism") return &credentials.mechanism;
  return nullptr;
}

void take_credentials_line(std::string_view line, std::size_t number, std::set<std::string_view>& seen,
                           Credentials& credentials) {
  const std::size_t equals = line.find('=');
  const std::string_view key = line.substr(0, equals);
  std::string* const value = equals == std::string_view::npos ? nullptr : credentials_value(key, credentials);
  if (value == nullptr)
    refuse_credentials(ExitCode::BadConfig,
                       fmt::format("has in line {} neither user=, password= nor mechanism=; a password alone "
                                   "is the only line of its file",
                                   number));
  if (!seen.insert(key).second)
    refuse_credentials(ExitCode::BadConfig, fmt::format("has {}= twice, again in line {}", key, number));
  *value = line.substr(equals + 1);
}

std::vector<std::string_view> credentials_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    for (const char c : line)
      if (static_cast<unsigned char>(c) < ' ' || c == '\x7F')
        refuse_credentials(ExitCode::BadConfig,
                           fmt::format("has a control character in line {}", lines.size()));
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

}  // namespace

Credentials read_credentials(const std::string& given) {
  const std::string text = credentials_text(given);
  const std::vector<std::string_view> lines = credentials_lines(text);
  if (lines.empty()) refuse_credentials(ExitCode::BadConfig, "is empty");
  Credentials credentials;
  const std::string_view first = lines.front();
  if (lines.size() == 1 && credentials_value(first.substr(0, first.find('=')), credentials) == nullptr) {
    credentials.password = first;
    return credentials;
  }
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (!lines[i].empty()) take_credentials_line(lines[i], i + 1, seen, credentials);
  if (credentials.password.empty()) refuse_credentials(ExitCode::BadConfig, "has no password");
  return credentials;
}

Credentials login_of(const Credentials& in_address, const std::string& file) {
  const auto refuse = [](const char* what) { throw Error(ExitCode::BadConfig, what); };
  Credentials login = read_credentials(file);
  if (!in_address.password.empty())
    refuse(
        "the address has a password, and the file of credentials has one, too; leave it out of the address");
  if (!in_address.user.empty() && !login.user.empty())
    refuse("the address has a user, and the file of credentials has one, too; leave one of them out");
  if (login.user.empty()) login.user = in_address.user;
  return login;
}

}  // namespace contorno
