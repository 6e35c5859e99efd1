#include "tools/graphviz.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/error.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): not every C library declares it

namespace contorno {
namespace {

[[noreturn]] void fail(const char* what, int error) {
  throw Error(ExitCode::Io, fmt::format("Graphviz: {}: {}", what, std::strerror(error)));
}

/// A file in memory. Not a pipe: while all of the text is being written, 'dot' could wait for its output to
/// be read.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("graphviz", MFD_CLOEXEC)) {
    if (descriptor_ < 0) fail("no memory for a file", errno);
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int descriptor() const { return descriptor_; }
  void write(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written < 0) fail("no memory for a file", errno);
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    rewind();
  }
  std::string read() const {
    rewind();
    std::string text;
    char some[4096];
    for (;;) {
      const ssize_t count = ::read(descriptor_, some, sizeof some);
      if (count < 0) fail("its drawing cannot be read", errno);
      if (count == 0) return text;
      text.append(some, static_cast<std::size_t>(count));
    }
  }

 private:
  void rewind() const { ::lseek(descriptor_, 0, SEEK_SET); }
  int descriptor_;
};

/// Runs 'dot -Tsvg' with these files as its input and output; returns its exit code.
int run_dot(const MemoryFile& in, const MemoryFile& out) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in.descriptor(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out.descriptor(), STDOUT_FILENO);
  char name[] = "dot", format[] = "-Tsvg";
  char* const arguments[] = {name, format, nullptr};
  pid_t process = 0;
  const int error = ::posix_spawnp(&process, name, &actions, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT)
    throw Error(
        ExitCode::Unavailable,
        "--svg needs Graphviz's program 'dot' (apt-get install graphviz); --dot FILE writes what it draws");
  if (error != 0) fail("'dot' does not start", error);
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

std::string graphviz_svg(const std::string& dot) {
  const MemoryFile in, out;
  in.write(dot);
  if (run_dot(in, out) != 0) throw Error(ExitCode::Io, "Graphviz's program 'dot' failed");
  return out.read();
}

}  // namespace contorno
