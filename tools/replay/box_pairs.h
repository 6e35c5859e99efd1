// Which contours of two frames are taken for the same, by the boxes around them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "pipeline/value/contours.h"

namespace contorno {

/// The sides of the box around a contour's points, px; of a contour without a number infinite ones.
struct ContourBox {
  std::array<double, 4> sides;  ///< left, top, right, bottom
  bool closed = false;

  ContourBox(std::span<const Point> points, bool is_closed);
};

/// Pairs of indices into `before` and `after`, in the order of the former; each index is in one pair at most.
/// Boxes may be a pair where both are closed or both are open and no side differs by more than `reach` px.
/// The pairs are those that come out when all that may be are taken in the order of the largest difference of
/// a side; of equal ones first that with the earlier index into `before`, then that with the earlier one into
/// `after`. `compared`, where it is not null, grows by how many boxes were compared.
std::vector<std::pair<std::uint32_t, std::uint32_t>> pair_boxes(std::span<const ContourBox> before,
                                                                std::span<const ContourBox> after,
                                                                double reach,
                                                                std::uint64_t* compared = nullptr);

}  // namespace contorno
