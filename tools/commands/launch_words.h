// LaunchWords: what a graph says, as words for gst-launch-1.0 behind a shell. Everything that comes from a
// graph goes through it, names too, so that a line of somebody's graph runs nothing and makes no other
// elements than its reader sees. Secrets do not stand in the line: it takes them from variables.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace contorno {

class LaunchWords {
 public:
  /// A name of an element. Throws Error(BadOption) where it is none: letters, digits, - and _.
  std::string element(const std::string& name);
  /// NAME=VALUE, in the quotes of both where they are needed. Throws Error(BadOption) where the name is none,
  /// or the value has control characters.
  std::string property(const std::string& name, const std::string& value);
  /// `text` as of the source gst: NAME=VALUE with blanks between them, and the quotes of a shell. Begins with
  /// a blank, unless it is empty.
  std::string properties(const std::string& text);
  /// Caps between two elements; the text cannot become anything else.
  std::string caps(const std::string& text);
  /// A launch line, which means what it says: each of its words reaches gst-launch as it is.
  std::string launch(const std::string& line);

  /// What the secrets are of ("user-pw"), in the order of their variables, secret_variable(0) and so on.
  const std::vector<std::string>& secrets() const { return secrets_; }
  static std::string secret_variable(std::size_t index);

 private:
  enum class For : std::uint8_t { Shell, LaunchValue };
  struct Shown {
    std::string text;  ///< masked
    bool has_secret = false;
  };
  std::string quoted(const std::string& what, const Shown& shown, For target);

  std::vector<std::string> secrets_;
};

}  // namespace contorno
