// Mean shift of points on the device: one upload (the tree), one launch, one download (the ends).
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/memory.h"
#include "cuda/pointer.h"
#include "cuda/stream.h"
#include "cuda/thrust.cuh"
#include "stages/mean_shift/climb.h"
#include "stages/mean_shift/points_kernels.cuh"

namespace contorno {
namespace {

using namespace mean_shift_cuda;

static_assert(kNormSums == kNormLanes);

constexpr std::size_t kSharedBytes = 200 * 1024;  // for y and sums of a block's warps

/// Calls use(std::integral_constant<int, D>) with the kernel's dimensions: those in registers, or 0.
template <class Use>
void with_dims(int dims, const Use& use) {
  if (dims == 1) return use(std::integral_constant<int, 1>());
  if (dims == 2) return use(std::integral_constant<int, 2>());
  if (dims == 3) return use(std::integral_constant<int, 3>());
  if (dims <= 8) return use(std::integral_constant<int, 8>());
  if (dims <= 32) return use(std::integral_constant<int, 32>());
  return use(std::integral_constant<int, 0>());
}

template <class T, int kDims>
void enqueue(const ClimbTask<T>& task, Job<T> job, void* stream) {
  const auto dims = static_cast<std::size_t>(job.tree.dims);
  const std::size_t warp_bytes = kDims > 0 ? 0 : dims * (kShiftLanes + 1) * sizeof(T);
  const auto warps = [&](unsigned most) {
    return kDims > 0 ? most : std::clamp(static_cast<unsigned>(kSharedBytes / warp_bytes), 1U, most);
  };
  const auto blocks = [&] { return (static_cast<unsigned>(job.count) + job.warps - 1) / job.warps; };
  if (task.stop == MeanShiftStop::PerPoint) {
    job.warps = warps(kWarps);
    const std::size_t shared = job.warps * warp_bytes;
    if (shared > 0) allow_shared("climb_points", climb_points<T, kDims>, shared);
    launch("climb_points", climb_points<T, kDims>, LaunchKind::Plain, LaunchOrder::AfterPrevious, blocks(),
           32 * job.warps, shared, stream, job);
    return;
  }
  job.warps = warps(kNormWarps);
  const std::size_t shared = kNormSums * sizeof(double) + job.warps * warp_bytes;
  allow_shared("climb_together", climb_together<T, kDims>, shared);
  int each = 0;
  CONTORNO_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &each, climb_together<T, kDims>, static_cast<int>(32 * job.warps), shared));
  launch("climb_together", climb_together<T, kDims>, LaunchKind::Cooperative, LaunchOrder::AfterPrevious,
         std::min(blocks(), multiprocessors() * static_cast<unsigned>(std::max(each, 1))), 32 * job.warps,
         shared, stream, job);
}

}  // namespace

struct MeanShiftMemory::Parts {
  Stream stream = Stream::create();
  Event begin = Event::create(), end = Event::create();
  Block device, up, down;

  static void grow(Block& block, std::size_t bytes, MemoryKind kind) {
    if (block.size() < bytes) block = Block(), block = Block(bytes + bytes / 4, kind);
  }
};

MeanShiftMemory::MeanShiftMemory() : parts_(std::make_unique<Parts>()) {}
MeanShiftMemory::~MeanShiftMemory() = default;

template <class T>
ClimbSummary climb_on_cuda(const ClimbTask<T>& task, const ClimbPlace& climb) {
  const MeanShiftTree<T>& tree = *task.tree;
  const std::vector<double>& centre = climb.frame.centre;
  MeanShiftMemory::Parts& memory = climb.memory.parts();
  void* const stream = climb.stream != nullptr ? climb.stream : memory.stream.get();
  const std::size_t values = static_cast<std::size_t>(task.count) * static_cast<std::size_t>(tree.dims);
  const std::size_t points = values * sizeof(T), orders = static_cast<std::size_t>(task.count) * sizeof(int);
  // Control and what is uploaded come first, then ends and squares.
  std::size_t at = align_up(sizeof(Control));
  const auto place = [&](std::size_t bytes) { return std::exchange(at, at + align_up(bytes)); };
  const std::size_t leaves = place(tree.leaves.size() * sizeof(T)),
                    boxes = place(tree.boxes.size() * sizeof(T)), order = place(orders),
                    centres = place(centre.size() * sizeof(double)), upload = at;
  const std::size_t ends = place(points),
                    squares = place(static_cast<std::size_t>(task.count) * sizeof(double));
  memory.grow(memory.device, at, MemoryKind::Device);
  memory.grow(memory.up, upload, MemoryKind::Pinned);
  memory.grow(memory.down, align_up(sizeof(Control)) + points, MemoryKind::Pinned);

  std::byte* up = memory.up.data();
  const Control cleared;
  std::memcpy(up, &cleared, sizeof(Control));
  std::memcpy(up + leaves, tree.leaves.data(), tree.leaves.size() * sizeof(T));
  std::memcpy(up + boxes, tree.boxes.data(), tree.boxes.size() * sizeof(T));
  std::memcpy(up + order, task.order, orders);
  std::memcpy(up + centres, centre.data(), centre.size() * sizeof(double));
  copy_async(memory.device.data(), up, upload, stream);

  std::byte* base = memory.device.data();
  Job<T> job{.tree = tree.view(), .rule = task.rule, .count = task.count};
  job.tree.leaves = reinterpret_cast<const T*>(base + leaves);
  job.tree.boxes = reinterpret_cast<const T*>(base + boxes);
  job.order = reinterpret_cast<const int*>(base + order);
  job.ends = reinterpret_cast<T*>(base + ends);
  job.squares = reinterpret_cast<double*>(base + squares);
  job.control = reinterpret_cast<Control*>(base);
  memory.begin.record(stream);
  with_dims(tree.dims, [&](auto dims) { enqueue<T, decltype(dims)::value>(task, job, stream); });
  memory.end.record(stream);
  if (climb.device_points != nullptr)
    for_each_number<std::uint64_t>("leave_tree", stream, values,
                                   LeaveTree<T>{.ends = job.ends,
                                                .centre = reinterpret_cast<const double*>(base + centres),
                                                .unit = climb.frame.unit,
                                                .dims = static_cast<unsigned>(tree.dims),
                                                .points = climb.device_points});
  std::byte* down = memory.down.data();
  copy_async(down, base, sizeof(Control), stream);
  copy_async(down + align_up(sizeof(Control)), base + ends, points, stream);
  synchronize_stream(stream);
  Control control;
  std::memcpy(&control, down, sizeof(Control));
  std::memcpy(task.ends, down + align_up(sizeof(Control)), points);
  return {.iterations = control.iterations,
          .squared = std::bit_cast<double>(control.squared),
          .converged = control.unfinished == 0,
          .device_us = Event::elapsed_us(memory.begin, memory.end)};
}

template ClimbSummary climb_on_cuda(const ClimbTask<float>&, const ClimbPlace&);
template ClimbSummary climb_on_cuda(const ClimbTask<double>&, const ClimbPlace&);

}  // namespace contorno
