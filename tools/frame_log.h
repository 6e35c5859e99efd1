// Messages about single frames of a run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace contorno {

/// Says each of the first few on standard error, then every power of ten, so that a log is never flooded.
class FrameLog {
 public:
  /// `what` happens to the frames, as in "frame 3 failed: ...". It is borrowed: a literal, or a text that
  /// outlives this.
  explicit FrameLog(std::string_view what) : what_(what) {}
  void operator()(std::uint64_t frame, const std::string& sentence);

 private:
  std::string_view what_;  ///< borrowed
  std::uint64_t count_ = 0, next_ = 10;
};

}  // namespace contorno
