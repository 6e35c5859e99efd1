// The points of all classes by bins on the device: a table of hashes whose buckets list the points in their
// order. The repeated last points of closed contours and points that are not finite are not in it.
#pragma once

#include "stages/contour_prep/shared/arrays.h"
#include "stages/contour_prep/shared/bins.h"
#include "stages/contour_prep/shared/sorts_and_sums.h"

namespace contorno {

namespace device_bins_cuda {
struct Job;
}

/// A point of the table: its number in the frame, and its contour's.
struct BinnedPoint {
  Point point;
  unsigned index = 0, contour = 0;
};

/// What kernels see. Bucket b lists points[begins[b]] to points[ends[b]], in the order of their numbers
/// (bucket_in, device_bins.cuh).
struct DeviceBinsView {
  Nearness nearness{0};
  unsigned mask = 0;  ///< a power of two less one; buckets are as many and one more
  unsigned *begins = nullptr, *ends = nullptr;
  unsigned* count = nullptr;  ///< how many points are in the table
  BinnedPoint* points = nullptr;
};

/// Words of the device.
struct DeviceWords {
  unsigned* words = nullptr;
  std::size_t count = 0;
};

/// Fills the table.
class DeviceBins {
 public:
  /// Asks for scratch, as part of the stage's plan: 48 bytes a point, and what the sort takes.
  void plan(PlanContext& context, const ContoursFormat& format);
  /// Enqueues the work. The table of contours that do not fit is not valid. Sets what the caller's kernels
  /// begin with, `zeroed`, to 0 as well: that would take a kernel more.
  void run(const RunContext& context, const ContoursView& in, const Nearness& nearness,
           const DeviceWords& zeroed) const;
  DeviceBinsView view(const RunContext& context, const Nearness& nearness) const;

 private:
  /// What is known of the kernels' arguments before there is memory.
  device_bins_cuda::Job job() const;

  unsigned mask_ = 0;
  PairSort<unsigned> sort_;
  PlannedArrays arrays_;
};

}  // namespace contorno
