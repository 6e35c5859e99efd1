// Output files that are safe to write: resolve_output keeps their paths below the output root, and a
// Completion says when a file gets its name, whether it is brought to the disk, so that it survives a power
// cut, and whether a second writer is refused. The files of a run are opened through an OutputRegister
// (plugins/files/shared/output_register.h), which knows the others; a command that writes one file may open
// it directly. An OutputFile belongs to one thread; a temporary file that was not completed is removed with
// it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/graph/param.h"
#include "pipeline/shared/patience.h"

namespace contorno {

/// The file that an output's `path` means: relative paths are taken in `output_root`, absolute ones must lie
/// in it. Links in folders are followed, the last name is not. Throws Error(BadConfig) when the file is
/// outside of the root, the root itself, a folder or a symbolic link; as canonical_root for the root. Creates
/// nothing.
std::filesystem::path resolve_output(const std::filesystem::path& output_root, std::string_view path);

/// The folder that outputs are written below, absolute and without links; "" is the current one. Throws
/// Error(CannotCreate).
std::filesystem::path canonical_root(const std::filesystem::path& output_root);

/// Makes the folder for outputs where it is missing. Throws Error(CannotCreate) when there cannot be one of
/// that name.
void make_output_folder(const std::filesystem::path& folder);

/// Whether `{frame}` and the like in an output's path stand for something.
enum class PathUse : std::uint8_t { Literal, Pattern };
/// Reports to `trial` a parameter `path` that is a bad pattern or leads outside the output folder. True when
/// the path is good.
bool try_output_path(const ParamTrial& trial, const std::string& path, PathUse use);

/// How a file comes to its final name.
enum class Completion : std::uint8_t {
  Rename,   ///< written under a temporary name beside it, renamed by complete()
  InPlace,  ///< has its name from the start; every record in it is complete, also after an error
  Series,   ///< as Rename, one of many: not brought to the disk, since that takes longer than a frame has;
            ///< another program that writes the same name is not looked for
  SharedSeries,  ///< one of many as well, but brought to the disk as with Rename; runs may write such files
                 ///< into one folder at the same time
  Recording,  ///< as Rename; keep_unfinished(), a complete() that fails and the clean-up after a killed run
              ///< keep it as NAME.unfinished.EXTENSION, the destructor does not
};

/// A temporary file of a run that was killed.
struct Leftover {
  std::filesystem::path part;
  std::filesystem::path kept;  ///< where its content goes; empty: it is removed
};
/// Told of each before it goes.
using TellLeftover = std::function<void(const Leftover&)>;

/// An output file. Writes are complete or throw Error(Io) with path and reason; interrupted and short writes
/// are continued. After an error the records before it stay readable: a half-written one is cut off.
/// A pipe or device keeps its nature, and is waited for as long as `patience` says.
class OutputFile {
 public:
  OutputFile() = default;
  /// Creates missing folders and the file. `path` as from resolve_output; an existing regular file is
  /// replaced by a new one, so that its hard links keep what they had. Throws Error(CannotCreate), also when
  /// another program of this kind writes the same file, or nobody opens a pipe for reading. The temporary
  /// files of killed runs beside it are cleared away, but for Series and SharedSeries, which clear_leftovers
  /// serves once for all.
  OutputFile(std::filesystem::path path, Completion completion, const Patience& patience = {},
             const TellLeftover& tell = {});
  /// Standard output; complete() leaves it open.
  static OutputFile standard_output(const Patience& patience = {});
  /// A pipe or device, by a name that may be a link to it. Throws Error(CannotCreate).
  static OutputFile special(std::filesystem::path path, const Patience& patience = {});
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  ~OutputFile();

  bool is_open() const { return descriptor_ >= 0; }
  const std::filesystem::path& path() const { return path_; }
  std::uint64_t bytes() const { return bytes_; }
  /// The descriptor, for a library that writes by itself; stays owned here. -1 when not open.
  int descriptor() const { return descriptor_; }
  /// How long a library that writes to the descriptor by itself is waited for.
  const Patience& patience() const { return patience_; }
  /// False for a pipe, a device and standard output, even where that goes to a file.
  bool is_regular() const { return regular_; }

  /// Appends one record. After an error a regular file has the records before it; a pipe, device or standard
  /// output keeps what it took.
  void write(std::string_view record);
  /// Gives a file of Completion::Rename its final name now; from then on it is one of Completion::InPlace.
  /// Throws Error(Io).
  void publish();
  /// Closes and gives the file its final name. Throws Error(Io), also when somebody has deleted or moved it.
  void complete();
  /// Closes; a temporary file is removed, one written in place stays with its records.
  void abandon() noexcept;
  /// Closes and leaves what was written: half a recording is better than none. Returns where: the name for
  /// unfinished files, the temporary one where renaming failed, path() where it had that already.
  std::filesystem::path keep_unfinished() noexcept;

 private:
  void open_special(int flags);
  void begin_part();
  void clear_way(const TellLeftover& tell);
  void rename_to_final();
  void give_up() noexcept;
  void wait_until_writable();
  void check_name();
  void check_deleted();
  [[noreturn]] void fail(const char* doing, int error_number);

  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
  bool owns_ = false;
  bool regular_ = false;  ///< can be cut, and never waits; a pipe or device does
  Completion completion_ = Completion::Rename;
  Patience patience_;
  std::uint64_t bytes_ = 0;
  std::int64_t checked_ns_ = 0;  ///< when it was last seen to have a name
};

/// Removes, or keeps when they are recordings, the temporary files of killed runs.
void clear_leftovers(const std::vector<std::filesystem::path>& dead, Completion completion,
                     const TellLeftover& tell);

}  // namespace contorno
