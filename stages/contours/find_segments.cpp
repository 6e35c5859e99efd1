#include "stages/contours/find_segments.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "pipeline/shared/loops.h"
#include "stages/contours/cpu/band_segments.h"
#include "stages/contours/cpu/cell_bits.h"
#include "stages/contours/cpu/mark_samples.h"
#include "stages/contours/cpu/search.h"
#include "stages/shared/sample_value.h"

namespace contorno {
namespace {

/// Which segments there are, as find_segments of cpu/band_segments.h gives them, for all rows of cells.
class SegmentBits {
 public:
  explicit SegmentBits(const CellBits& cells)
      : cells_(cells),
        row_words_(cells.bits().row_words),
        words_(static_cast<std::size_t>(2 * row_words_ * (cells.bits().height - 1))) {}

  int rows() const { return cells_.bits().height - 1; }
  std::size_t find_row(int row) {
    std::uint64_t* const found = words_.data() + 2 * row_words_ * row;
    find_segments(cells_, row, {0, row_words_}, found);
    std::size_t count = 0;
    for (std::int64_t i = 0; i < 2 * row_words_; ++i)
      count += static_cast<std::size_t>(std::popcount(found[i]));
    return count;
  }
  /// Calls f(col, number of the segment in its cell) for the segments of a row, in their order.
  template <class F>
  void for_row(int row, const F& f) const {
    const std::uint64_t* const found = words_.data() + 2 * row_words_ * row;
    for (std::int64_t word = 0; word < row_words_; ++word)
      for (std::uint64_t rest = found[2 * word] | found[2 * word + 1]; rest != 0; rest &= rest - 1) {
        const int bit = std::countr_zero(rest);
        for (int number = 0; number < 2; ++number)
          if ((found[2 * word + number] >> bit & 1) != 0) f(static_cast<int>(64 * word) + bit, number);
      }
  }

 private:
  const CellBits& cells_;
  std::int64_t row_words_;
  std::vector<std::uint64_t> words_;
};

template <class T>
void write_row(const CellBits& cells, const SegmentBits& segments, int row, Orientation orientation,
               PointD* points, CellPlace* places) {
  segments.for_row(row, [&](int col, int number) {
    const auto code = static_cast<int>(cells.code(cells.position(row, col)));
    const CellSegment& segment = cell_case(code, cells.connectivity()).segment[number];
    points[0] = crossing_point<T>(cells.samples(), cells.level(), row, col, segment.from);
    points[1] = crossing_point<T>(cells.samples(), cells.level(), row, col, segment.to);
    if (orientation == Orientation::High) std::swap(points[0], points[1]);
    points += 2;
    *places++ = {row, col};
  });
}

}  // namespace

FoundSegments find_segments(const ImageView& image, const FindContoursOptions& options) {
  check_find_contours(image, options.mask);
  FoundSegments found;
  found.level = options.level ? *options.level : middle_level(image, options.scale);

  const KeptBlock memory(crossings_bytes(image.format));
  const std::vector<double> levels{found.level};
  SampleMarker(image.format, levels, options.scale, options.simd).mark(image, memory.data(), options.threads);
  const PlaneBits bits = plane_bits(memory.data(), image.format, 0);
  if (options.mask.data != nullptr) apply_mask(options.mask, bits, options.threads);

  const CellBits cells(bits, plane_of(image, 0, options.scale), found.level, options.fully_connected);
  SegmentBits segments(cells);
  std::vector<std::size_t> begin(static_cast<std::size_t>(segments.rows()) + 1);
  for_rows(options.threads, segments.rows(),
           [&](int row) { begin[static_cast<std::size_t>(row) + 1] = segments.find_row(row); });
  for (std::size_t row = 1; row < begin.size(); ++row) begin[row] += begin[row - 1];
  found.points = Buffer<PointD>(2 * begin.back());
  found.cells = Buffer<CellPlace>(begin.back());
  with_sample_type(image.format.type, [&]<class T>(const T*) {
    for_rows(options.threads, segments.rows(), [&](int row) {
      const std::size_t first = begin[static_cast<std::size_t>(row)];
      write_row<T>(cells, segments, row, options.positive_orientation, found.points.data() + 2 * first,
                   found.cells.data() + first);
    });
  });
  return found;
}

}  // namespace contorno
