// The temporary files that outputs are written to before they are complete: NAME.part<process>-<number>, in
// the folder of NAME, locked as long as their writer lives. The kernel drops the lock with the process,
// whichever way that ends, so the next writer of NAME can tell a file that is being written (locked) from one
// that a killed run left behind. Functions may be called from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace contorno {

/// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  /// Gives it up: the caller closes.
  int release();

 private:
  int number_;
};

/// Opens with O_CLOEXEC, and tries again when a signal interrupts it. Empty, with errno, when it fails.
Descriptor open_file(const std::filesystem::path& path, int flags);

/// Takes the lock of an open file without waiting. False when another holds it; true where the file system
/// knows no locks.
bool try_lock(const Descriptor& file);

/// While it lives, other runs wait before they begin a file in this folder. Shared ones do not wait for each
/// other. Does nothing where the folder cannot be locked.
class FolderLock {
 public:
  enum class Kind : std::uint8_t { Exclusive, Shared };
  explicit FolderLock(const std::filesystem::path& folder, Kind kind = Kind::Exclusive);

 private:
  Descriptor folder_;
};

/// `path` with a number: "a-2.png" for number 2 of "a.png". Such a file may exist.
std::filesystem::path numbered(const std::filesystem::path& path, unsigned number);
/// `path`, or the first of its numbers from 2 that does not exist.
std::filesystem::path free_name(const std::filesystem::path& path);
/// Where half a recording is kept: "a.unfinished.mkv" for "a.mkv", numbered if that exists.
std::filesystem::path unfinished_name(const std::filesystem::path& path);

/// A new temporary name for `target`.
std::filesystem::path new_part_name(const std::filesystem::path& target);

/// What lies in a folder beside the files that are written there.
struct PartFiles {
  std::vector<std::filesystem::path> dead;  ///< their writers are gone
  std::filesystem::path alive;              ///< a file that is being written; empty: there is none
};
/// Looks for the temporary files of those targets in `folder` whose names `is_target` takes.
PartFiles find_parts(const std::filesystem::path& folder,
                     const std::function<bool(std::string_view name)>& is_target);
/// The name of the file that a temporary file was to become.
std::filesystem::path target_of(const std::filesystem::path& part);

}  // namespace contorno
