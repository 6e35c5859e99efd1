// Faults for a program that is started with this library preloaded, each chosen by an environment variable:
//   FAULT_NEW=n      the n-th operator new, from when a graph is opened, throws std::bad_alloc, once; "came"
//   goes to
//                    standard error when it does
//   FAULT_IO=1       reads and writes of files are interrupted, or transfer a few bytes only
//   FAULT_EIO=n      the n-th write to a file and all after it fail as those to a broken disk do
//   FAULT_CLOCK=1    the wall clock is an hour ahead and an hour behind in turns
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string_view>

namespace {

long number_of(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atol(text) : 0;
}

std::atomic<bool> graph_is_open = false;

void* allocate(std::size_t bytes, std::size_t alignment) {
  static const long failing = number_of("FAULT_NEW");
  static std::atomic<long> count = 0;
  if (failing > 0 && graph_is_open && count.fetch_add(1) + 1 == failing) {
    static_cast<void>(!write(STDERR_FILENO, "came\n", 5));
    throw std::bad_alloc();
  }
  void* data = alignment == 0
                   ? std::malloc(bytes == 0 ? 1 : bytes)
                   : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (data == nullptr) throw std::bad_alloc();
  return data;
}

/// Every third call is interrupted; the others get at most this many bytes.
constexpr std::size_t kSome = 7;
bool interrupted() {
  static std::atomic<unsigned> calls = 0;
  return calls.fetch_add(1) % 3 == 0;
}
bool faulty(int file) {
  static const bool wanted = number_of("FAULT_IO") != 0;
  return wanted && file > STDERR_FILENO;
}
bool broken(int file) {
  static const long failing = number_of("FAULT_EIO");
  static std::atomic<long> count = 0;
  return failing > 0 && file > STDERR_FILENO && count.fetch_add(1) + 1 >= failing;
}
std::size_t some(std::size_t bytes) {
  return bytes < kSome ? bytes : kSome;
}
template <class F>
F next(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

}  // namespace

void* operator new(std::size_t bytes) {
  return allocate(bytes, 0);
}
void* operator new[](std::size_t bytes) {
  return allocate(bytes, 0);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}

extern "C" {

int open(const char* path, int flags, ...) {
  static const auto real = next<int (*)(const char*, int, ...)>("open");
  if (std::string_view(path).ends_with(".yaml")) graph_is_open = true;
  std::va_list arguments;
  va_start(arguments, flags);
  const auto mode = va_arg(arguments, unsigned);
  va_end(arguments);
  return real(path, flags, mode);
}

ssize_t write(int file, const void* data, size_t bytes) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  if (broken(file)) return errno = EIO, -1;
  if (!faulty(file)) return real(file, data, bytes);
  if (interrupted()) return errno = EINTR, -1;
  return real(file, data, some(bytes));
}

int clock_gettime(clockid_t clock, timespec* time) {
  static const auto real = next<int (*)(clockid_t, timespec*)>("clock_gettime");
  static const bool stepping = number_of("FAULT_CLOCK") != 0;
  static std::atomic<unsigned> calls = 0;
  const int result = real(clock, time);
  if (stepping && clock == CLOCK_REALTIME) time->tv_sec += calls.fetch_add(1) % 2 == 0 ? 3600 : -3600;
  return result;
}

ssize_t pread(int file, void* data, size_t bytes, off_t offset) {
  static const auto real = next<ssize_t (*)(int, void*, size_t, off_t)>("pread");
  if (!faulty(file)) return real(file, data, bytes, offset);
  if (interrupted()) return errno = EINTR, -1;
  return real(file, data, some(bytes), offset);
}

ssize_t preadv(int file, const iovec* parts, int count, off_t offset) {
  static const auto real = next<ssize_t (*)(int, const iovec*, int, off_t)>("preadv");
  if (!faulty(file) || count == 0) return real(file, parts, count, offset);
  if (interrupted()) return errno = EINTR, -1;
  const iovec first{parts[0].iov_base, some(parts[0].iov_len)};
  return real(file, &first, 1, offset);
}

}  // extern "C"
