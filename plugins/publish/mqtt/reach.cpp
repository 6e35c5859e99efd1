#include "plugins/publish/mqtt/reach.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "pipeline/shared/clock.h"

namespace contorno {
namespace {

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

/// 0, or the error with which connecting ends; ETIMEDOUT where there is no answer in time.
int try_address(const addrinfo& address, std::int64_t until_ns) {
  const int line = ::socket(address.ai_family, address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (line < 0) return errno;
  int error = ::connect(line, address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
  while (error == EINPROGRESS) {
    const std::int64_t left = until_ns - now_ns();
    pollfd ready{.fd = line, .events = POLLOUT, .revents = 0};
    constexpr std::int64_t kMillisecond = 1'000'000;
    const int found = ::poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(0, left) / kMillisecond));
    if (found < 0 && errno == EINTR) continue;
    if (found == 0) error = ETIMEDOUT;
    if (found < 0) error = errno;
    if (found <= 0) break;
    socklen_t size = sizeof error;
    if (::getsockopt(line, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  }
  ::close(line);
  return error;
}

}  // namespace

std::string why_unreachable(const std::string& host, int port, std::int64_t limit_ns) {
  const std::int64_t until = now_ns() + limit_ns;
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_flags = AI_ADDRCONFIG;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int code = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &list);
  if (code != 0) return ::gai_strerror(code);
  const std::unique_ptr<addrinfo, FreeAddresses> owner(list);
  int error = EADDRNOTAVAIL;
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    error = try_address(*one, until);
    if (error == 0) return {};
    if (error == ETIMEDOUT) break;  // the library would wait for this one, too
  }
  return std::strerror(error);
}

}  // namespace contorno
