// Marching squares alone: the segments of one image before they are assembled to contours. Input is read in
// place; the result owns its memory. Safe to call from several threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stages/contours/find_contours.h"

namespace contorno {

/// A cell of four samples, known by its upper left one.
struct CellPlace {
  std::int32_t row = 0, col = 0;
};

/// Segment i goes from points[2 * i] to points[2 * i + 1], in samples (row, column), and lies in cells[i].
/// Segments are in raster order of their cells; the two of a saddle in the order of `kCellCases`.
struct FoundSegments {
  Buffer<PointD> points;
  Buffer<CellPlace> cells;
  double level = 0;  ///< the level that was used

  std::size_t count() const { return cells.size(); }
};

/// The segments of which find_contours makes contours, with the same bits: low samples are on the left of
/// each (`positive_orientation: High`: on the right). Those whose two points are equal are left out, as are
/// cells with a sample that is NaN or masked. Takes what find_contours takes and throws the
/// same, but for the number of points, which has no limit.
///
/// Source: W. Lorensen and H. Cline, "Marching Cubes: A High Resolution 3D Surface Construction Algorithm",
/// 1987, in two dimensions; order and tests are those of scikit-image.
FoundSegments find_segments(const ImageView& image, const FindContoursOptions& options = {});

}  // namespace contorno
