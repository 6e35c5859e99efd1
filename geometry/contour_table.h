// One frame's contours in memory of their own, on the host.
#pragma once

#include <cstddef>
#include <vector>

#include "pipeline/value/contours.h"

namespace contorno {

/// Contours of a format, in packed arrays that `view` shows; before `allot` there are none. A copy has arrays
/// of its own.
struct ContourTable {
  ContoursView view;

  ContourTable() = default;
  ContourTable(const ContourTable& other) { *this = other; }
  ContourTable(ContourTable&&) = default;
  ContourTable& operator=(const ContourTable& other) {
    memory_ = other.memory_;
    view = memory_.empty() ? ContoursView{} : packed_view(memory_.data(), other.view.format);
    return *this;
  }
  ContourTable& operator=(ContourTable&&) = default;
  ~ContourTable() = default;

  /// Makes arrays of this format, whose content is any.
  void allot(const ContoursFormat& format) {
    memory_.resize(packed_bytes(format));
    view = packed_view(memory_.data(), format);
  }

 private:
  std::vector<std::byte> memory_;
};

}  // namespace contorno
