#include "plugins/extension_file.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/error.h"
#include "base/version.h"
#include "pipeline/shared/printable.h"

namespace contorno {
namespace {
namespace fs = std::filesystem;

void check_path(const std::string& path) {
  if (path.empty())
    throw Error(ExitCode::Usage, "the path of the library to load is empty, allowed is an absolute one");
  std::error_code failed;
  if (path.front() != '/') {
    const std::string meant = fs::absolute(path, failed).lexically_normal().string();
    throw Error(ExitCode::Usage,
                fmt::format("the library to load is '{}', allowed is an absolute path{}", path,
                            failed || meant.empty() ? "" : fmt::format(": {}", meant)));
  }
  const fs::file_status status = fs::status(path, failed);
  if (status.type() == fs::file_type::not_found) refuse_extension(path, "there is no such file");
  if (status.type() == fs::file_type::directory)
    refuse_extension(path, "it is a folder, wanted is a shared library");
  // Opening a FIFO would wait for somebody who writes.
  if (fs::exists(status) && !fs::is_regular_file(status)) refuse_extension(path, "it is no regular file");
}

/// The start of a file as a T, or false.
template <class T>
bool read_at(std::ifstream& file, std::uint64_t offset, T& into) {
  file.seekg(static_cast<std::streamoff>(offset));
  return static_cast<bool>(file.read(reinterpret_cast<char*>(&into), sizeof into));
}

/// The dynamic linker would end the process with a signal where a file is shorter than its head says.
void check_complete(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse_extension(path, fmt::format("it cannot be read: {}", std::strerror(errno)));
  ElfW(Ehdr) head{};
  const bool is_whole = read_at(file, 0, head);
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) refuse_extension(path, "it is no shared library");
  std::error_code failed;
  const std::uint64_t size = fs::file_size(path, failed);
  bool is_complete = is_whole && !failed;
  for (std::uint64_t i = 0; is_complete && i < head.e_phnum; ++i) {
    ElfW(Phdr) part{};
    is_complete =
        read_at(file, head.e_phoff + i * head.e_phentsize, part) &&
        (part.p_type != PT_LOAD || (part.p_offset <= size && part.p_filesz <= size - part.p_offset));
  }
  if (!is_complete) refuse_extension(path, fmt::format("it is cut off, at {} bytes", size));
}

// The file whose static objects this thread is making, and what ends the process otherwise.
thread_local const char* loading = nullptr;
std::terminate_handler other_handler = nullptr;

/// The C library lets no exception of a static object through dlopen: it ends here.
[[noreturn]] void tell_and_end() {
  if (loading == nullptr || std::current_exception() == nullptr) {
    if (other_handler != nullptr) other_handler();
    std::abort();
  }
  const std::string line =
      fmt::format("contorno: {} cannot be loaded: it threw an exception while it was opened: {}\n",
                  printable_sentence(loading), printable_sentence(what_is_thrown()));
  static_cast<void>(::write(STDERR_FILENO, line.data(), line.size()) < 0);
  ::_exit(static_cast<int>(ExitCode::Unavailable));
}

/// While it lives, an exception that ends the process is told as one of `path`.
class LoadingScope {
 public:
  explicit LoadingScope(const std::string& path) {
    loading = path.c_str();
    other_handler = std::set_terminate(&tell_and_end);
  }
  ~LoadingScope() {
    std::set_terminate(other_handler);
    loading = nullptr;
  }
  LoadingScope(const LoadingScope&) = delete;
  LoadingScope& operator=(const LoadingScope&) = delete;
};

/// Makes the names of libcontorno those that the file finds first, whatever the library is called here, and
/// although Python and GStreamer load it for themselves alone.
void show_own_names() {
  Dl_info own{};
  if (::dladdr(reinterpret_cast<const void*>(&open_extension_file), &own) != 0 && own.dli_fname != nullptr)
    ::dlopen(own.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

/// What dlopen said, without the path that the sentence has already.
std::string why_not_opened(const std::string& path) {
  const char* const said = ::dlerror();
  std::string reason = said != nullptr ? said : "no reason given";
  if (reason.starts_with(path + ": ")) reason.erase(0, path.size() + 2);
  const bool names_library = reason.find("libcontorno.so") != std::string::npos;
  if (names_library || reason.find("8contorno") != std::string::npos)
    reason += "; build it with the headers of contorno " CONTORNO_VERSION_TEXT ", which is running";
  if (names_library) reason += ", and without -lcontorno: it gets those names from the process that loads it";
  return reason;
}

}  // namespace

void refuse_extension(const std::string& path, std::string_view reason) {
  throw Error(ExitCode::Unavailable, fmt::format("{} cannot be loaded: {}", path, reason));
}

std::string what_is_thrown() {
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

void* open_extension_file(const std::string& path) {
  check_path(path);
  check_complete(path);
  show_own_names();
  const LoadingScope scope(path);
  void* library = nullptr;
  try {
    library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  } catch (...) {
    refuse_extension(path, "it threw an exception while it was opened: " + what_is_thrown());
  }
  if (library == nullptr) refuse_extension(path, why_not_opened(path));
  return library;
}

}  // namespace contorno
