// How far a command is, on standard error.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <string>

#include "tools/say.h"

namespace contorno {

/// A line that is written over itself on a terminal, and nothing anywhere else.
class ProgressLine {
 public:
  explicit ProgressLine(bool wanted) : shown_(wanted && isatty(STDERR_FILENO) != 0) {}
  /// Whether anybody sees it.
  bool shown() const { return shown_; }
  void show(const std::string& line) {
    if (!shown_) return;
    // Padded to the length of the line before, so that nothing of that stays.
    show_progress(fmt::format("\r{:<{}}", line, width_));
    width_ = line.size();
  }
  void clear() {
    if (shown_) show_progress(fmt::format("\r{:{}}\r", "", width_));
  }

 private:
  bool shown_;
  std::size_t width_ = 0;
};

}  // namespace contorno
