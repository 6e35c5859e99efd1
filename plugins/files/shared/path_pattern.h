// Paths of sinks that write one file a frame: a text with placeholders for the frame's number and name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace contorno {

/// A file path with placeholders: {frame}, {frame:06} (zero-padded to 6 digits), {name} (file name of the
/// frame without extension, unsafe characters replaced by '_'; the frame number where the source gives no
/// name); {{ and }} stand for braces. Nothing else is interpreted, a percent sign least of all.
class PathPattern {
 public:
  PathPattern() = default;
  /// Throws Error(BadOption) naming the placeholder that it does not know.
  explicit PathPattern(std::string_view text);

  /// True when the path depends on the frame: there is a placeholder in it.
  bool varies() const;
  /// True when two frames can have the same path: there is no {frame} in it.
  bool repeats() const;
  /// False when no path of this pattern can be one of the other.
  bool may_meet(const PathPattern& other) const;
  /// True for every path that the pattern can make, and for few others.
  bool may_make(std::string_view path) const;
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
  std::string_view prefix() const;  ///< the text before the first placeholder
  std::string_view suffix() const;  ///< the text behind the last placeholder

  std::string text_;
  std::vector<Piece> pieces_;
};

}  // namespace contorno
