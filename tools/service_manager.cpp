#include "tools/service_manager.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "tools/say.h"

namespace contorno {
namespace {

std::string_view variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? std::string_view() : std::string_view(text);
}

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number <= 0) return std::nullopt;
  return number;
}

/// A socket that sends to `address`, a path or @NAME; -1 with the reason in errno.
int connect_to(std::string_view address) {
  sockaddr_un target{};
  target.sun_family = AF_UNIX;
  const bool is_address = address.front() == '/' || address.front() == '@';
  if (!is_address || address.size() < 2 || address.size() >= sizeof(target.sun_path)) {
    errno = EINVAL;
    return -1;
  }
  std::memcpy(target.sun_path, address.data(), address.size());
  if (address.front() == '@') target.sun_path[0] = '\0';
  const int made = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (made < 0) return -1;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size());
  if (::connect(made, reinterpret_cast<const sockaddr*>(&target), length) == 0) return made;
  const int error = errno;
  ::close(made);
  errno = error;
  return -1;
}

}  // namespace

ServiceManager::ServiceManager() {
  const std::string_view address = variable("NOTIFY_SOCKET");
  if (address.empty()) return;
  socket_ = connect_to(address);
  if (socket_ < 0) {
    warn(fmt::format(
        "NOTIFY_SOCKET is '{}', to which nothing can be said ({}); allowed is the path of a socket or "
        "@NAME",
        address, std::strerror(errno)));
    return;
  }
  const std::string_view process = variable("WATCHDOG_PID");
  const auto interval = number_in(variable("WATCHDOG_USEC"));
  if (interval && (process.empty() || number_in(process) == ::getpid())) watchdog_ns_ = *interval * 1000;
}

ServiceManager::~ServiceManager() {
  if (socket_ >= 0) ::close(socket_);
}

/// False: nobody took it. Never waits: who sends watches over cameras.
bool ServiceManager::send(std::string_view text) const {
  if (socket_ < 0) return false;
  return ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

void ServiceManager::say_ready() {
  if (!is_ready_) is_ready_ = send("READY=1");
}

void ServiceManager::say_status(std::string_view sentence) {
  if (socket_ < 0 || status_ == sentence) return;
  if (send(fmt::format("STATUS={}", printable_sentence(sentence)))) status_ = sentence;
}

void ServiceManager::ask_for_time(std::int64_t ns) {
  send(fmt::format("EXTEND_TIMEOUT_USEC={}", ns / 1000));
}

void ServiceManager::say_stopping() {
  if (!is_stopping_) is_stopping_ = send("STOPPING=1");
}

void ServiceManager::feed(std::int64_t now_ns) {
  constexpr std::int64_t kTimes = 4;
  if (!watchdog_ns_ || (fed_ns_ != 0 && now_ns - fed_ns_ < *watchdog_ns_ / kTimes)) return;
  if (send("WATCHDOG=1")) fed_ns_ = now_ns;
}

}  // namespace contorno
