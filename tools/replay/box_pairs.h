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

/// Indices into `before` and `after`, each of which is in one pair at most, by those before: as if all pairs
/// of closed with closed and of open with open boxes, of which no side differs by more than `reach` px, were
/// taken in the order of what their sides differ by at most; of equal ones the earlier before, then the
/// earlier after. `compared`, where it is not null, grows by how many boxes were compared.
std::vector<std::pair<std::uint32_t, std::uint32_t>> pair_boxes(std::span<const ContourBox> before,
                                                                std::span<const ContourBox> after,
                                                                double reach,
                                                                std::uint64_t* compared = nullptr);

}  // namespace contorno
