// The launches of the contour engine. P is the type of points (Point32 or Point64); a .cu file for each type
// includes this.
#pragma once

#include <functional>
#include <span>

#include "cuda/stream.h"
#include "pipeline/graph/banded_upload.h"
#include "stages/contours/cuda/export.cuh"
#include "stages/contours/cuda/workspace.cuh"

namespace contorno::contour_engine {

/// Calls `use` with a null pointer of the device type of the samples.
template <class Use>
void with_device_type(ElementType type, const Use& use) {
  switch (type) {
    case ElementType::U8:
      return use(static_cast<unsigned char*>(nullptr));
    case ElementType::U16:
      return use(static_cast<unsigned short*>(nullptr));
    case ElementType::F16:
      return use(static_cast<__half*>(nullptr));
    case ElementType::F32:
      return use(static_cast<float*>(nullptr));
    case ElementType::F64:
      return use(static_cast<double*>(nullptr));
  }
  throw InternalError("contour engine: no such element type");
}

/// How a kernel that follows another one is launched.
inline LaunchOrder later(const ContourEngineDevice& device) {
  return device.overlaps ? LaunchOrder::OverlapPrevious : LaunchOrder::AfterPrevious;
}

/// Prepares the kernels on the current device, once, when the work is planned. Throws Error(Unavailable) when
/// they need more shared memory than it has.
template <class P>
ContourEngineDevice allow_kernels(const ContourEngineSpec& spec) {
  ContourEngineDevice device{.processors = multiprocessors(), .warps = kMostWarps};
  while (device.warps > 1 && WarpsShared::bytes(device.warps) > most_shared()) --device.warps;
  with_device_type(spec.map.type, [&](auto* tag) {
    using T = std::remove_pointer_t<decltype(tag)>;
    const auto allow = [&](auto by_level) {
      constexpr bool kLevels = decltype(by_level)::value;
      allow_shared("trace_blocks", trace_blocks<T, P, kLevels>, sizeof(BlockShared));
      allow_shared("trace_warps", trace_warps<T, P, kLevels>, WarpsShared::bytes(device.warps));
    };
    if (spec.channel_levels.empty()) return allow(std::false_type());
    allow(std::true_type());
  });
  device.overlaps = spec.launches == ContourEngineSpec::Launches::Fastest && has_dependent_launch();
  return device;
}

/// The arguments of `enqueue`; `host` and `upload` may be null.
template <class View>
struct Frame {
  ImageView map;
  MaskView mask;
  void* workspace;
  View out;
  const View* host = nullptr;
  BandedUpload* upload = nullptr;
  const std::function<void()>* traced = nullptr;  ///< called when the last tracing has been enqueued
  // Only where channels have several levels:
  const LevelRow* level_rows = nullptr;  ///< table of planes (plan.cuh, level_rows), in device memory
  double* levels = nullptr;              ///< gets the level of each contour
  std::uint32_t* channel_begin = nullptr;
};

/// Enqueues the tracing of samples of type T. kLevels: PlaneGroup::by_level.
template <class T, bool kLevels, class P>
void enqueue_trace_of(const ContourEngineSpec& spec, const ContourEngineDevice& device,
                      const PlaneGroup<P>& group, unsigned tiles, void* stream) {
  // Single levels: these kernels are the first ones of a frame.
  const LaunchOrder order = kLevels ? later(device) : LaunchOrder::AfterPrevious;
  const auto by_blocks = [&](unsigned blocks, unsigned count) {
    launch("trace_blocks", trace_blocks<T, P, kLevels>, LaunchKind::Plain, order, blocks, kBlockThreads,
           sizeof(BlockShared), stream, group, count);
  };
  if (tiles <= static_cast<unsigned>(spec.small_tiles)) return by_blocks(tiles, tiles);
  launch("trace_warps", trace_warps<T, P, kLevels>, LaunchKind::Plain, order,
         std::min(device.processors, (tiles + device.warps - 1) / device.warps), kWarpThreads * device.warps,
         WarpsShared::bytes(device.warps), stream, group, tiles);
  by_blocks(std::min(tiles, 3 * device.processors), 0);
}

template <class P>
void enqueue_trace(const ContourEngineSpec& spec, const ContourEngineDevice& device,
                   const PlaneGroup<P>& group, const BandTiles& band, void* stream) {
  const unsigned tiles =
      group.by_level != 0 ? group.tile_capacity : static_cast<unsigned>(tiles_in(group, band.rows));
  if (tiles == 0) return;
  with_device_type(spec.map.type, [&](auto* tag) {
    using T = std::remove_pointer_t<decltype(tag)>;
    if (group.by_level != 0)
      enqueue_trace_of<T, true>(spec, device, group, tiles, stream);
    else
      enqueue_trace_of<T, false>(spec, device, group, tiles, stream);
  });
}

/// How many blocks join pieces: as many as run at the same time, and no more than the pieces need, since a
/// block without work takes time to start. A map with several levels has more pieces.
template <class P>
unsigned join_blocks(const ContourEngineDevice& device, const PlaneGroup<P>& group) {
  const unsigned most = (group.by_level != 0 ? 6 : 2) * device.processors;
  return std::max(std::min((group.piece_capacity + kRankThreads - 1) / kRankThreads, most), 1U);
}

/// Enqueues what follows the tracing of the group's planes: joining, numbering and scattering. Of the
/// last planes, `traced` is called before, if there is any.
template <class P>
void enqueue_assembly(const ContourEngineDevice& device, const PlaneGroup<P>& group,
                      const std::function<void()>* traced, void* stream) {
  const LaunchOrder order = later(device);
  const unsigned blocks = join_blocks(device, group);
  const bool timed = group.last_planes != 0 && traced != nullptr && *traced;
  if (timed) (*traced)();
  // Behind an event no launch overlaps another.
  launch("join_pieces", join_pieces<P>, LaunchKind::Plain, timed ? LaunchOrder::AfterPrevious : order, blocks,
         kRankThreads, 0, stream, group);
  launch("finish_and_number", finish_and_number<P>, LaunchKind::Plain, order, blocks + group.scan_blocks,
         kScanThreads, sizeof(NumberShared), stream, group);
  if (group.by_level != 0) {
    launch("scan_strips", scan_strips<P>, LaunchKind::Plain, order,
           std::min(strip_chunks(group), 4 * device.processors), kScanThreads, sizeof(ChunkShared), stream,
           group);
    launch("number_levels", number_levels<P>, LaunchKind::Plain, order, device.processors, kStripThreads, 0,
           stream, group);
  }
  const unsigned scatter_blocks =
      std::min((group.segment_capacity + kScatterThreads - 1) / kScatterThreads, 2 * device.processors);
  launch("scatter_points", scatter_points<P>, LaunchKind::Plain, order, std::max(scatter_blocks, 1U),
         kScatterThreads, sizeof(ScatterShared), stream, group);
}

/// Enqueues what finds the near tiles of a group of planes.
template <class P>
void enqueue_near_tiles(const ContourEngineSpec& spec, const ContourEngineDevice& device,
                        const PlaneGroup<P>& group, LaunchOrder order, void* stream) {
  constexpr unsigned kTiles = kNearThreads / 32;
  // Few tiles may have many levels, and so many strips to clear.
  const unsigned for_strips =
      std::min((strip_count(group) + kNearThreads - 1) / kNearThreads, device.processors);
  const unsigned blocks = std::max({(channel_tiles(group) + kTiles - 1) / kTiles, for_strips, 1U});
  with_device_type(spec.map.type, [&](auto* tag) {
    using T = std::remove_pointer_t<decltype(tag)>;
    launch("find_near_tiles", find_near_tiles<T, P>, LaunchKind::Plain, order, blocks, kNearThreads,
           sizeof(NearShared), stream, group);
  });
}

/// Enqueues a frame whose channels have several levels, group by group.
template <class P>
void enqueue_levels(const ContourEngineSpec& spec, const ContourEngineDevice& device,
                    const PlaneGroup<P>& whole, const std::function<void()>* traced, void* stream) {
  for_level_groups(whole, spec, [&](const PlaneGroup<P>& group, std::size_t first) {
    enqueue_near_tiles(spec, device, group, first == 0 ? LaunchOrder::AfterPrevious : later(device), stream);
    const BandTiles all{
        .plane = 0, .planes = group.planes, .first_row = 0, .rows = group.tiles_y, .completes = true};
    enqueue_trace(spec, device, group, all, stream);
    enqueue_assembly(device, group, traced, stream);
  });
}

/// Enqueues a frame, band by band as its map arrives. A map that has arrived is one band.
template <class P, class View>
void enqueue_frame(const ContourEngineSpec& spec, const ContourEngineDevice& device, const Frame<View>& frame,
                   void* stream) {
  PlaneGroup<P> whole = plan_group<P>(spec);
  lay_out(whole, frame.workspace);
  whole.map = map_of(frame.map, frame.mask, spec.divisor);
  whole.out = output_of<P>(frame.out);
  whole.exported = frame.host != nullptr ? 1 : 0;
  whole.out.levels = frame.levels;
  whole.out.channel_begin = frame.channel_begin;
  whole.work.near.levels = frame.level_rows;
  if (!spec.channel_levels.empty() && (frame.upload != nullptr || frame.host != nullptr))
    throw InternalError("contours of several levels are neither uploaded in bands nor exported");
  if (!spec.channel_levels.empty()) return enqueue_levels(spec, device, whole, frame.traced, stream);
  const ImageBand all{0, spec.map.planes(), 0, spec.map.height};
  const std::span<const ImageBand> bands =
      frame.upload != nullptr ? frame.upload->bands() : std::span(&all, 1);
  for (std::size_t k = 0; k < bands.size(); ++k) {
    if (frame.upload != nullptr) frame.upload->wait_for(k, stream);
    const BandTiles band = tiles_of(whole, bands[k]);
    const PlaneGroup<P> group = group_of(whole, band);
    enqueue_trace(spec, device, group, band, stream);
    if (!band.completes) {
      // The next band has a list of dense tiles of its own.
      CONTORNO_CUDA_CHECK(cudaMemsetAsync(&group.work.counters->dense_tiles, 0, sizeof(unsigned),
                                          static_cast<cudaStream_t>(stream)));
      continue;
    }
    enqueue_assembly(device, group, frame.traced, stream);
    if (frame.host == nullptr) continue;
    Output<P> to = output_of<P>(*frame.host);
    to.class_begin += band.plane;
    launch("export_contours", export_contours<P>, LaunchKind::Plain, later(device), kExportBlocks,
           kExportThreads, 0, stream, group, to);
  }
}

template <class P>
std::size_t workspace_bytes(const ContourEngineSpec& spec) {
  PlaneGroup<P> group = plan_group<P>(spec);
  return lay_out(group, nullptr);
}

template <class P>
void clear_workspace(const ContourEngineSpec& spec, void* workspace, void* stream) {
  PlaneGroup<P> group = plan_group<P>(spec);
  std::size_t bytes = 0;
  lay_out(group, workspace, &bytes);
  CONTORNO_CUDA_CHECK(cudaMemsetAsync(workspace, 0, bytes, static_cast<cudaStream_t>(stream)));
}

}  // namespace contorno::contour_engine
