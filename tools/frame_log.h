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
  /// `camera` begins each sentence where it is not empty: "north: frame 3 failed: ...".
  explicit FrameLog(std::string_view what, std::string_view camera = {}) : what_(what), camera_(camera) {}
  void operator()(std::uint64_t frame, const std::string& sentence);

 private:
  std::string_view what_;  ///< borrowed
  std::string camera_;
  std::uint64_t count_ = 0, next_ = 10;
};

}  // namespace contorno
