#include "plugins/files/shared/open_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace contorno {
namespace {

int open_descriptor(const std::string& path, int flags) {
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) throw read_error(path, errno);
  return descriptor;
}

/// Until somebody wrote. Opening a pipe in the blocking way would also wait for writers that are gone already
/// and left something to read. From then on reading blocks.
void wait_for_writer(int descriptor) {
  pollfd wanted{.fd = descriptor, .events = POLLIN, .revents = 0};
  while (::poll(&wanted, 1, -1) < 0 && errno == EINTR) {
  }
  ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
}

}  // namespace

Error read_error(const std::string& path, int error_number) {
  const auto code = error_number == ENOENT || error_number == ENOTDIR ? ExitCode::MissingInput : ExitCode::Io;
  return {code, fmt::format("cannot read '{}': {}", path, std::generic_category().message(error_number))};
}

OpenFile::OpenFile(const std::string& path, Pipes pipes) : descriptor_(open_descriptor(path, O_NONBLOCK)) {
  struct stat status {};
  const int failed = ::fstat(descriptor_, &status) == 0 ? 0 : errno;
  pipe_ = failed == 0 && S_ISFIFO(status.st_mode);
  bytes_ = pipe_ ? 0 : static_cast<std::uint64_t>(status.st_size);
  if (failed == 0 && (S_ISREG(status.st_mode) || (pipe_ && pipes == Pipes::Wait))) {
    if (pipe_) wait_for_writer(descriptor_);
    return;
  }
  close();
  if (failed != 0) throw read_error(path, failed);
  throw Error(ExitCode::BadData, fmt::format("'{}' is not a regular file", path));
}

void OpenFile::close() noexcept {
  if (const int descriptor = release(); descriptor >= 0) ::close(descriptor);
}

}  // namespace contorno
