// Output files that are safe to write: only below the output root, never through a symbolic link, and a file
// that has its final name is complete. Paths of one file a frame come from a pattern with {frame} and {name}.
// An OutputFile belongs to one thread; a temporary file that was not completed is removed with it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/param.h"

namespace contorno {

/// Where `path` is to be written: relative paths are taken in `output_root`, absolute ones must lie in it.
/// Throws Error(BadConfig) when the result, links followed, is outside of the root, is the root itself, a
/// folder or a symbolic link. Creates nothing.
std::filesystem::path resolve_output(const std::filesystem::path& output_root, std::string_view path);

/// A file path with placeholders: {frame}, {frame:06} (zero-padded to 6 digits), {name} (file name of the
/// frame without extension, unsafe characters replaced by '_'; the frame number where the source gives no
/// name); {{ and }} stand for braces. Nothing else is interpreted, a percent sign least of all.
class PathPattern {
 public:
  PathPattern() = default;
  /// Throws Error(BadOption) naming the placeholder that it does not know.
  explicit PathPattern(std::string_view text);

  /// True when every frame gets another path, as far as the pattern can tell.
  bool varies() const;
  std::string format(std::uint64_t frame, std::string_view name) const;
  const std::string& text() const { return text_; }

 private:
  enum class Kind : std::uint8_t { Literal, Frame, Name };
  struct Piece {
    Kind kind = Kind::Literal;
    std::string literal;
    int digits = 0;
  };
  static Piece placeholder(std::string_view word, std::string_view pattern);
  void add_literal(char c);

  std::string text_;
  std::vector<Piece> pieces_;
};

/// Whether placeholders in an output's path are read.
enum class PathUse : std::uint8_t { Literal, Pattern };
/// Refuses a parameter `path` that is no good pattern, or that leads outside the output folder. True: it is
/// good.
bool try_output_path(const ParamTrial& trial, const std::string& path, PathUse use);

/// How a file comes to its final name.
enum class Completion : std::uint8_t {
  Rename,   ///< written under a temporary name beside it, renamed by complete()
  InPlace,  ///< has its name from the start; every record in it is complete, also after an error
};

/// An output file. Writes are complete or throw Error(Io) with path and reason; interrupted and short writes
/// are continued. After an error the records before it stay readable: a half-written one is cut off.
class OutputFile {
 public:
  OutputFile() = default;
  /// Creates missing folders and the file. `path` as from resolve_output; an existing regular file is
  /// replaced, not written through. Throws Error(CannotCreate).
  OutputFile(std::filesystem::path path, Completion completion);
  /// Standard output; complete() leaves it open.
  static OutputFile standard_output();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  ~OutputFile();

  bool is_open() const { return descriptor_ >= 0; }
  const std::filesystem::path& path() const { return path_; }
  std::uint64_t bytes() const { return bytes_; }
  /// For a library that writes by itself; stays owned here. -1 when not open.
  int descriptor() const { return descriptor_; }

  /// Appends one record: all of it or, after an error, nothing.
  void write(std::string_view record);
  /// Closes and gives the file its final name. Throws Error(Io).
  void complete();
  /// Closes; a temporary file is removed, one written in place stays with its records.
  void abandon() noexcept;
  /// Closes and leaves what was written under its temporary name, which is returned: half a recording is
  /// better than none.
  std::filesystem::path keep_unfinished() noexcept;

 private:
  [[noreturn]] void fail(const char* doing, int error_number);

  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
  bool owns_ = false;
  bool regular_ = false;  ///< can be cut; a pipe or device cannot
  std::uint64_t bytes_ = 0;
};

}  // namespace contorno
