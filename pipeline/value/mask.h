// A grey image as a value of a parameter: the members and heights of a structuring element, for example, or,
// with its colours, an empty scene. Shared and never changed once it is a value, so that copies of parameters
// cost nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace contorno {

struct Mask {
  static constexpr int kMaxSide = 4096;

  int width = 0, height = 0;            ///< 1 to kMaxSide each
  std::vector<double> values{};         ///< row by row, width * height
  std::vector<std::uint8_t> colours{};  ///< red, green, blue of every pixel of a picture; empty: an array
  std::string text{};  ///< what it was read from, as it was written; empty: made by a program
  std::string file{};  ///< the file that was opened for it; empty: none

  bool operator==(const Mask&) const = default;
};

/// Null is no mask.
using SharedMask = std::shared_ptr<const Mask>;

}  // namespace contorno
