// PointSelection on the device. The scans are CUB's, with planned memory and without waiting; Thrust's take a
// number of elements that the host does not know either, and memory from an allocator at each call.
#include <algorithm>
#include <cub/device/device_scan.cuh>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "cuda/check.h"
#include "stages/contour_prep/shared/point_selection.cuh"

namespace contorno {

using point_selection_cuda::Job;
using point_selection_cuda::KeptFlag;

struct PointSelection::Parts {
  ContoursFormat format;
  unsigned blocks = 1;
  std::size_t rank_bytes = 0, place_bytes = 0;  // that CUB works in
  Scratch library, keep, rank, words, places, sources;
};

namespace {

/// CUB's two calls; without memory they say how much they need.
cudaError_t rank_points(void* memory, std::size_t& bytes, const Job& job, unsigned* rank,
                        cudaStream_t stream) {
  const auto flags =
      thrust::make_transform_iterator(thrust::counting_iterator<unsigned>(0), KeptFlag{job.in, job.keep});
  return cub::DeviceScan::ExclusiveSum(memory, bytes, flags, rank,
                                       static_cast<int>(job.in.format.point_capacity) + 1, stream);
}
cudaError_t place_contours(void* memory, std::size_t& bytes, const Job& job, unsigned long long* places,
                           cudaStream_t stream) {
  return cub::DeviceScan::ExclusiveSum(memory, bytes, job.words, places,
                                       static_cast<int>(job.in.format.contour_capacity) + 1, stream);
}

}  // namespace

PointSelection::PointSelection() : parts_(std::make_unique<Parts>()) {}
PointSelection::~PointSelection() = default;

void PointSelection::plan(PlanContext& context, const ContoursFormat& format) {
  Job job;
  job.in.format = format;
  CONTORNO_CUDA_CHECK(rank_points(nullptr, parts_->rank_bytes, job, nullptr, nullptr));
  CONTORNO_CUDA_CHECK(place_contours(nullptr, parts_->place_bytes, job, nullptr, nullptr));
  const auto take = [&](std::size_t bytes) { return context.temporary(bytes, MemoryKind::Device); };
  parts_->library = take(std::max(parts_->rank_bytes, parts_->place_bytes));
  parts_->keep = take(format.point_capacity);
  parts_->rank = take((format.point_capacity + 1) * sizeof(*job.rank));
  parts_->words = take((format.contour_capacity + 1) * sizeof(*job.words));
  parts_->places = take((format.contour_capacity + 1) * sizeof(*job.places));
  parts_->sources = take(format.contour_capacity * sizeof(*job.sources));
  parts_->blocks = 4 * multiprocessors();
}

std::uint8_t* PointSelection::keep(const RunContext& context) const {
  return context.scratch<std::uint8_t>(parts_->keep);
}

Scratch PointSelection::sources() const {
  return parts_->sources;
}

void PointSelection::run(const RunContext& context, const ContoursView& in, const ContoursView& out) const {
  auto* const rank = context.scratch<unsigned>(parts_->rank);
  auto* const places = context.scratch<unsigned long long>(parts_->places);
  auto* const memory = context.scratch<std::byte>(parts_->library);
  auto* const stream = static_cast<cudaStream_t>(context.stream);
  const Job job{.in = in,
                .out = out,
                .keep = keep(context),
                .rank = rank,
                .words = context.scratch<unsigned long long>(parts_->words),
                .places = places,
                .sources = context.scratch<unsigned>(parts_->sources)};
  const auto start = [&](const char* name, auto* kernel) {
    launch(name, kernel, LaunchKind::Plain, LaunchOrder::AfterPrevious, parts_->blocks,
           point_selection_cuda::kThreads, 0, stream, job);
  };
  std::size_t bytes = parts_->rank_bytes;
  CONTORNO_CUDA_CHECK(rank_points(memory, bytes, job, rank, stream));
  start("measure_kept", point_selection_cuda::measure_kept);
  bytes = parts_->place_bytes;
  CONTORNO_CUDA_CHECK(place_contours(memory, bytes, job, places, stream));
  start("place_kept", point_selection_cuda::place_kept);
  start("write_kept", point_selection_cuda::write_kept);
}

}  // namespace contorno
