// Owns one frame's contours on the host, for writers and readers of files and for buffers of GStreamer.
#pragma once

#include <cstddef>
#include <vector>

#include "pipeline/value/contours.h"

namespace contorno {

/// One block with the arrays of packed_view (pipeline/value/contours.h): counts, points (row, col in px),
/// offsets, closed, class_begin and columns of attributes, with the capacities of the view's format. Before
/// `allot` there are none. A copy is deep; a moved-from table may only be assigned to. Views that others have
/// copied are valid until the next `allot`, assignment or destruction.
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

  /// Arrays of this format; their content, the counts included, is the caller's to write. Throws
  /// std::bad_alloc.
  void allot(const ContoursFormat& format) {
    memory_.resize(packed_bytes(format));
    view = packed_view(memory_.data(), format);
  }

 private:
  std::vector<std::byte> memory_;
};

}  // namespace contorno
