#include "plugins/files/shared/part_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

namespace contorno {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kMark = ".part";

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// The NAME of NAME.part<process>-<number>; nothing of other names.
std::optional<std::string_view> target_name(std::string_view name) {
  const std::size_t mark = name.rfind(kMark);
  if (mark == std::string_view::npos || mark == 0) return std::nullopt;
  const std::string_view numbers = name.substr(mark + kMark.size());
  const std::size_t dash = numbers.find('-');
  if (dash == std::string_view::npos || !is_number(numbers.substr(0, dash)) ||
      !is_number(numbers.substr(dash + 1)))
    return std::nullopt;
  return name.substr(0, mark);
}

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

int Descriptor::release() {
  return std::exchange(number_, -1);
}

Descriptor open_file(const fs::path& path, int flags) {
  int number = -1;
  do {
    number = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  } while (number < 0 && errno == EINTR);
  return Descriptor(number);
}

bool try_lock(const Descriptor& file) {
  return ::flock(file.number(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

FolderLock::FolderLock(const fs::path& folder, Kind kind)
    : folder_(open_file(folder, O_RDONLY | O_DIRECTORY)) {
  const int operation = kind == Kind::Shared ? LOCK_SH : LOCK_EX;
  // Held by others for a few calls only, so this wait is short.
  while (folder_ && ::flock(folder_.number(), operation) != 0 && errno == EINTR) continue;
}

fs::path numbered(const fs::path& path, unsigned number) {
  fs::path other = path.parent_path();
  other /= fmt::format("{}-{}{}", path.stem().string(), number, path.extension().string());
  return other;
}

fs::path free_name(const fs::path& path) {
  std::error_code error;
  fs::path name = path;
  for (unsigned number = 2; fs::exists(fs::symlink_status(name, error)); ++number)
    name = numbered(path, number);
  return name;
}

fs::path unfinished_name(const fs::path& path) {
  fs::path other = path.parent_path();
  other /= fmt::format("{}.unfinished{}", path.stem().string(), path.extension().string());
  return free_name(other);
}

fs::path new_part_name(const fs::path& target) {
  static std::atomic<unsigned> counter{0};  // two sinks may have the same target until the first completes
  fs::path name = target;
  name += fmt::format("{}{}-{}", kMark, ::getpid(), counter.fetch_add(1));
  return name;
}

fs::path target_of(const fs::path& part) {
  const std::string name = part.filename().string();
  const auto target = target_name(name);
  return target ? part.parent_path() / *target : part;
}

PartFiles find_parts(const fs::path& folder, const std::function<bool(std::string_view name)>& is_target) {
  PartFiles found;
  // Not std::filesystem: its iterator ends the program when memory ends.
  struct Close {
    void operator()(DIR* stream) const { ::closedir(stream); }
  };
  const std::unique_ptr<DIR, Close> stream(::opendir(folder.empty() ? "." : folder.c_str()));
  if (!stream) return found;
  while (const dirent* entry = ::readdir(stream.get())) {
    const auto name = target_name(entry->d_name);
    if (!name || !is_target(*name)) continue;
    const fs::path path = folder / entry->d_name;
    const Descriptor file = open_file(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
    if (!file) continue;
    if (try_lock(file))
      found.dead.push_back(path);
    else
      found.alive = path;
  }
  return found;
}

}  // namespace contorno
