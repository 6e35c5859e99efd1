// find_contours for one image, equal to scikit-image's measure.find_contours bit for bit: points, order,
// start points, direction. Input is read in place; the result owns its memory. Safe to call from several
// threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"  // what is thrown
#include "pipeline/value/image.h"
#include "stages/contours/rules/cell_cases.h"
#include "stages/contours/rules/exact_point.h"
#include "stages/shared/sample_scale.h"
#include "stages/shared/simd.h"

namespace contorno {

/// An array of `size` values that begin uninitialised. Owns its memory.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) : data_(std::make_unique_for_overwrite<T[]>(size)), size_(size) {}
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  const T& operator[](std::size_t index) const { return data_[index]; }

 private:
  std::unique_ptr<T[]> data_;
  std::size_t size_ = 0;
};

struct FindContoursOptions {
  /// Absent: (minimum + maximum) / 2 over the whole image, without NaN and regardless of the mask; computed
  /// in the image's own float type, for integers in float64 (where scikit-image's sum may wrap around).
  std::optional<double> level{};
  Connectivity fully_connected = Connectivity::Low;
  Orientation positive_orientation = Orientation::Low;
  /// One channel of U8, the size of the image; 0 = the sample is not used. Without data every sample is used.
  /// Borrowed for the call.
  ImageView mask{};
  int threads = 1;
  SampleScale scale{};      ///< what integer samples are divided by
  Simd simd = best_simd();  ///< for tests: instructions that are used
  int band_rows = 0;        ///< for tests: height of the bands that are linked in parallel; 0 = automatic
};

/// Contour i has points [offsets[i], offsets[i + 1]), in samples (row, column); a closed contour repeats its
/// first point as its last.
struct FoundContours {
  Buffer<PointD> points;
  Buffer<std::uint32_t> offsets;
  Buffer<std::uint8_t> closed;
  double level = 0;  ///< the level that was used

  std::size_t count() const { return closed.size(); }
  std::span<const PointD> contour(std::size_t index) const {
    return {points.data() + offsets[index], offsets[index + 1] - offsets[index]};
  }
};

/// Throws Error(BadData) with a sentence when find_contours cannot take such an image and mask.
void check_find_contours(const ImageView& image, const ImageView& mask);
/// (low + high) / 2; like scikit-image, float samples are added in their own type.
double level_between(ElementType type, double low, double high);
/// The level that is used when none is given; NaN when no sample is a number.
double middle_level(const ImageView& image, SampleScale scale);

/// `image` has one channel of any element type and sides of 2 to kMaxSide. Throws Error(BadData)
/// (base/error.h) otherwise, if the mask does not fit, or if there are more points than 32 bits can count;
/// and std::bad_alloc where the memory for the contours cannot be had. A level that is NaN has no contours.
FoundContours find_contours(const ImageView& image, const FindContoursOptions& options = {});

}  // namespace contorno
