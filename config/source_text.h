// The text of a graph file before it is parsed: bytes that are not UTF-8, excessive nesting and excessive
// size are refused here, so that the parser gets only short, valid text. Owns the text; lines are views into
// it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/shared/printable.h"

namespace contorno::config {

inline constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxDepth = 32;

/// A position for messages: line and column from 1, the column in characters (code points), not bytes.
/// Line 0 stands for the command line: `override_index` says which --set.
struct Place {
  int line = 1, column = 1;
  int length = 1;  ///< characters to underline
  int override_index = -1;
};

class Problems;

class SourceText {
 public:
  /// Takes the bytes of a file: drops a byte-order mark, turns CRLF into LF.
  explicit SourceText(std::string bytes);

  const std::string& text() const { return text_; }
  /// Line `number`, counted from 1; empty after the last line.
  std::string_view line(int number) const;
  /// The place of `bytes` bytes at a line and a byte column, both counted from 0.
  Place place(int line, int byte_column, int bytes = 1) const;
  Place place_at(std::size_t offset) const;
  /// The bytes from a line and byte column (both counted from 0) to the end of that line.
  std::string_view rest_of_line(int line, int byte_column) const;

  /// Adds a problem for everything that no graph's text may contain; returns whether the text may be parsed.
  bool check(Problems& problems) const;

 private:
  bool check_encoding(Problems& problems) const;
  bool check_nesting(Problems& problems) const;

  std::size_t offset_in_file(std::size_t offset) const;

  std::string text_;
  std::size_t dropped_ = 0;           ///< bytes of the byte-order mark
  std::vector<std::size_t> returns_;  ///< where a carriage return was dropped, as offsets into text_
  std::vector<std::size_t> line_starts_;
};

/// How messages name the graph `path`: "-" is "<stdin>".
std::string graph_file_name(const std::string& path);
/// Reads a graph file; "-" is standard input. Throws Error(MissingInput) when it is not there, no regular
/// file, or cannot be read; never blocks on a FIFO or device. Reads at most one byte more than kMaxFileBytes.
std::string read_graph_file(const std::string& path);

using contorno::character_count;
using contorno::printable;

}  // namespace contorno::config
