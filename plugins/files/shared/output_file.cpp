#include "plugins/files/shared/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.h"
#include "plugins/files/shared/part_files.h"
#include "plugins/files/shared/path_pattern.h"

namespace contorno {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t kCheckInterval = 1'000'000'000;  // ns between two looks whether a file was deleted

std::string reason(int error_number) {
  return std::generic_category().message(error_number);
}

Error cannot_create(const fs::path& path, std::string_view why) {
  return Error(ExitCode::CannotCreate, fmt::format("cannot create '{}': {}", path.string(), why));
}

/// True when `path` is below `root`, both canonical.
bool is_below(const fs::path& root, const fs::path& path) {
  const auto [end_of_root, at] = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  return end_of_root == root.end() && at != path.end();
}

/// The folder of a file as a name that can be opened.
fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

/// Writes an open file or folder through to the disk; false with errno. File systems that cannot do that are
/// left alone.
bool write_through(int descriptor) {
  int result = 0;
  do {
    result = ::fsync(descriptor);
  } while (result != 0 && errno == EINTR);
  return result == 0 || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP || errno == EROFS;
}

std::string waited(const Patience& patience) {
  if (patience.stops()) return "when the run was to end";
  return fmt::format("for {:g} s (sink_timeout)", std::chrono::duration<double>(patience.limit).count());
}

}  // namespace

fs::path canonical_root(const fs::path& output_root) {
  std::error_code error;
  fs::path root = fs::absolute(output_root.empty() ? fs::path(".") : output_root, error);
  if (!error) root = fs::weakly_canonical(root, error);
  if (error) throw cannot_create(output_root, error.message());
  return root;
}

fs::path resolve_output(const fs::path& output_root, std::string_view path) {
  const auto refuse = [&](std::string_view why) {
    return Error(ExitCode::BadConfig, fmt::format("output path '{}' {}; allowed is a file below '{}'", path,
                                                  why, output_root.string()));
  };
  if (path.empty() || path.find('\0') != std::string_view::npos) throw refuse("is not a file name");
  std::error_code error;
  const fs::path root = canonical_root(output_root);
  const fs::path wanted = root / fs::path(path);  // an absolute path replaces the root
  if (!wanted.has_filename() || wanted.filename() == "." || wanted.filename() == "..")
    throw refuse("is not a file name");
  const fs::path folder = fs::weakly_canonical(wanted.parent_path(), error);
  if (error) throw refuse("cannot be resolved (" + error.message() + ")");
  fs::path file = folder / wanted.filename();
  if (!is_below(root, file)) throw refuse("leads outside of the output folder");
  // The last component is not followed: a link there would carry the writing elsewhere.
  const fs::file_status status = fs::symlink_status(file, error);
  if (fs::is_symlink(status)) throw refuse("is a symbolic link");
  if (fs::is_directory(status)) throw refuse("is a folder");
  return file;
}

bool try_output_path(const ParamTrial& trial, const std::string& path, PathUse use) {
  return trial.run("path", [&] {
    resolve_output(trial.output_root(), use == PathUse::Pattern ? PathPattern(path).format(0, "name") : path);
  });
}

void make_output_folder(const fs::path& folder) {
  std::error_code error;
  const auto cannot = [&](std::string_view why) {
    return Error(ExitCode::CannotCreate,
                 fmt::format("cannot create the output folder '{}': {}", folder.string(), why));
  };
  const fs::file_status status = fs::status(folder, error);
  if (fs::exists(status) && !fs::is_directory(status)) throw cannot("there is a file of this name");
  error.clear();
  fs::create_directories(folder, error);
  // Also of a folder that was deleted while somebody stands in it: it is there, but nothing can be made in
  // it.
  if (!error) static_cast<void>(fs::canonical(folder, error));
  if (error) throw cannot(error.message());
}

void clear_leftovers(const std::vector<fs::path>& dead, Completion completion, const TellLeftover& tell) {
  for (const fs::path& part : dead) {
    std::error_code error;
    const bool keeps = completion == Completion::Recording && fs::file_size(part, error) > 0 && !error;
    const Leftover leftover{.part = part, .kept = keeps ? unfinished_name(target_of(part)) : fs::path()};
    if (tell) tell(leftover);
    if (keeps)
      fs::rename(part, leftover.kept, error);
    else
      fs::remove(part, error);
  }
}

OutputFile::OutputFile(fs::path path, Completion completion, const Patience& patience,
                       const TellLeftover& tell)
    : OutputFile() {
  path_ = std::move(path);
  completion_ = completion;
  patience_ = patience;
  owns_ = true;
  std::error_code error;
  if (path_.has_parent_path()) fs::create_directories(path_.parent_path(), error);
  if (error) throw cannot_create(path_, error.message());
  const fs::file_status status = fs::symlink_status(path_, error);
  if (fs::is_symlink(status)) throw cannot_create(path_, "it is a symbolic link");
  if (fs::is_directory(status)) throw cannot_create(path_, "it is a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    open_special(O_NOFOLLOW);
    return;
  }
  if (completion == Completion::Series) {
    begin_part();
    return;
  }
  if (completion == Completion::SharedSeries) {
    // Who looks for leftovers must not find it between its creation and its lock.
    const FolderLock lock(folder_of(path_), FolderLock::Kind::Shared);
    begin_part();
    return;
  }
  const FolderLock lock(folder_of(path_));
  clear_way(tell);
  begin_part();
  // A new file instead of truncating: other names (hard links) of the old one keep their content.
  if (completion == Completion::InPlace) rename_to_final();
}

OutputFile OutputFile::special(fs::path path, const Patience& patience) {
  OutputFile file;
  file.path_ = std::move(path);
  file.patience_ = patience;
  file.owns_ = true;
  file.open_special(0);
  // What the link leads to may have been exchanged meanwhile.
  struct stat status {};
  if (::fstat(file.descriptor_, &status) != 0 || S_ISREG(status.st_mode))
    throw cannot_create(file.path_, "it is a symbolic link");
  return file;
}

/// A pipe or device: nothing is created, renamed or removed.
void OutputFile::open_special(int flags) {
  std::error_code error;
  const bool pipe = fs::is_fifo(fs::status(path_, error));
  const std::int64_t since = now_ns();
  for (;;) {
    descriptor_ = open_file(path_, O_WRONLY | O_NONBLOCK | flags).release();
    if (descriptor_ >= 0) return;
    const int error_number = errno;
    if (!pipe || error_number != ENXIO) throw cannot_create(path_, reason(error_number));
    if (patience_.ends(since))
      throw cannot_create(path_, "nobody has opened the pipe for reading " + waited(patience_));
    std::this_thread::sleep_for(Patience::kLook);
  }
}

void OutputFile::begin_part() {
  fs::path part = new_part_name(path_);
  Descriptor file = open_file(part, O_WRONLY | O_NOFOLLOW | O_CREAT | O_EXCL);
  if (!file) throw cannot_create(path_, reason(errno));
  temporary_ = std::move(part);
  try_lock(file);
  descriptor_ = file.release();
  regular_ = true;
  checked_ns_ = now_ns();
}

/// Refuses a file that is being written, and clears away what killed runs left of it.
void OutputFile::clear_way(const TellLeftover& tell) {
  const auto in_use = [this](const fs::path& name) {
    return cannot_create(path_, fmt::format("it is being written by another run (into '{}')", name.string()));
  };
  const Descriptor old = open_file(path_, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (old && !try_lock(old)) throw in_use(path_);
  const std::string name = path_.filename().string();
  const PartFiles parts =
      find_parts(folder_of(path_), [&](std::string_view target) { return target == name; });
  if (!parts.alive.empty()) throw in_use(parts.alive);
  clear_leftovers(parts.dead, completion_, tell);
}

OutputFile OutputFile::standard_output(const Patience& patience) {
  OutputFile file;
  file.path_ = "standard output";
  file.descriptor_ = STDOUT_FILENO;
  file.patience_ = patience;
  return file;
}

OutputFile::OutputFile(OutputFile&& other) noexcept {
  *this = std::move(other);
}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  if (this == &other) return *this;
  abandon();
  path_ = std::exchange(other.path_, {});
  temporary_ = std::exchange(other.temporary_, {});
  descriptor_ = std::exchange(other.descriptor_, -1);
  owns_ = std::exchange(other.owns_, false);
  regular_ = std::exchange(other.regular_, false);
  completion_ = other.completion_;
  patience_ = other.patience_;
  bytes_ = std::exchange(other.bytes_, 0);
  checked_ns_ = other.checked_ns_;
  return *this;
}

OutputFile::~OutputFile() {
  abandon();
}

/// Waits until a pipe or device takes bytes, so that the write itself never waits, where nobody could end it.
void OutputFile::wait_until_writable() {
  const std::int64_t since = now_ns();
  pollfd wanted{.fd = descriptor_, .events = POLLOUT, .revents = 0};
  // poll says "ready" for an error, too, which the write then names.
  while (::poll(&wanted, 1, static_cast<int>(Patience::kLook.count())) <= 0)
    if (patience_.ends(since))
      throw Error(ExitCode::Io, fmt::format("cannot write '{}': nobody took what was written {}",
                                            path_.string(), waited(patience_)));
}

void OutputFile::write(std::string_view record) {
  if (descriptor_ < 0) throw InternalError("write to a file that is not open");
  std::string_view rest = record;
  while (!rest.empty()) {
    std::size_t bytes = rest.size();
    if (!regular_) {
      wait_until_writable();
      bytes = std::min<std::size_t>(bytes, PIPE_BUF);  // so much is taken at once from then on
    }
    const ssize_t written = ::write(descriptor_, rest.data(), bytes);
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR && errno != EAGAIN) {
      const int error_number = errno;
      // Cutting can only fail for reasons that the error already tells.
      if (regular_ && ::ftruncate(descriptor_, static_cast<off_t>(bytes_)) == 0)
        ::lseek(descriptor_, static_cast<off_t>(bytes_), SEEK_SET);
      fail("write", error_number);
    }
  }
  bytes_ += record.size();
  if (regular_ && now_ns() - checked_ns_ > kCheckInterval) {
    check_deleted();
    checked_ns_ = now_ns();
  }
}

/// A file without a name is gone with the run, whatever is still written to it.
void OutputFile::check_deleted() {
  struct stat now {};
  if (::fstat(descriptor_, &now) == 0 && now.st_nlink == 0)
    throw Error(ExitCode::Io, fmt::format("'{}' was deleted while it was written", path_.string()));
}

/// At the end its name must still be its own; before that a file that is followed may be moved.
void OutputFile::check_name() {
  check_deleted();
  struct stat open {
  }, named{};
  const fs::path& name = temporary_.empty() ? path_ : temporary_;
  if (::fstat(descriptor_, &open) != 0) return;
  if (::lstat(name.c_str(), &named) != 0 || named.st_dev != open.st_dev || named.st_ino != open.st_ino)
    throw Error(ExitCode::Io, fmt::format("'{}' was moved or replaced while it was written", path_.string()));
}

void OutputFile::rename_to_final() {
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error_number = errno;
    give_up();
    fail("rename to", error_number);
  }
  temporary_.clear();
}

void OutputFile::publish() {
  if (!temporary_.empty()) rename_to_final();
  completion_ = Completion::InPlace;
}

void OutputFile::complete() {
  if (descriptor_ < 0) return;
  const bool sync = regular_ && completion_ != Completion::Series;
  try {
    if (regular_) check_name();
    if (sync && !write_through(descriptor_)) fail("write", errno);
  } catch (...) {
    give_up();
    throw;
  }
  const int descriptor = std::exchange(descriptor_, -1);
  // close() reports delayed write errors (network file systems); EINTR leaves the descriptor closed on Linux.
  if (owns_ && ::close(descriptor) != 0 && errno != EINTR) {
    const int error_number = errno;
    give_up();
    fail("close", error_number);
  }
  if (!temporary_.empty()) rename_to_final();
  if (!sync) return;
  // The name as well. What cannot be opened for reading is not worth an error: the file is complete.
  if (const Descriptor folder = open_file(folder_of(path_), O_RDONLY | O_DIRECTORY))
    if (!write_through(folder.number())) fail("write the folder of", errno);
}

void OutputFile::give_up() noexcept {
  if (completion_ == Completion::Recording)
    keep_unfinished();
  else
    abandon();
}

void OutputFile::abandon() noexcept {
  if (descriptor_ >= 0 && owns_) ::close(descriptor_);
  descriptor_ = -1;
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

fs::path OutputFile::keep_unfinished() noexcept {
  fs::path kept = temporary_.empty() ? path_ : std::exchange(temporary_, {});
  abandon();
  if (kept == path_) return kept;
  try {
    const fs::path name = unfinished_name(path_);
    if (std::rename(kept.c_str(), name.c_str()) == 0) kept = name;
  } catch (const std::exception&) {
    // Without memory it stays where it is.
  }
  return kept;
}

void OutputFile::fail(const char* doing, int error_number) {
  throw Error(ExitCode::Io, fmt::format("cannot {} '{}': {}", doing, path_.string(), reason(error_number)));
}

}  // namespace contorno
