// The launches of the contour engine for one type of points; included by one .cu file a type.
#pragma once

#include "stages/contour_engine_export.cuh"
#include "stages/contour_engine_plan.cuh"

namespace contorno::contour_engine {

/// Calls `use` with a sample type's Sample tag.
template <class Use>
void with_sample_type(ElementType type, const Use& use) {
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

/// Returns the number of blocks of a cluster, 0 where the device has none.
template <class P>
unsigned allow_kernels(const ContourEngineSpec& spec) {
  with_sample_type(spec.map.type, [](auto* tag) {
    using T = std::remove_pointer_t<decltype(tag)>;
    allow_shared("trace_small", trace_small<T, P>, sizeof(SmallShared));
    allow_shared("trace_tiles", trace_tiles<T, P>, sizeof(TileShared<WarpLinks>));
    allow_shared("trace_dense", trace_dense<T, P>, sizeof(TileShared<WideLinks>));
  });
  allow_shared("join_and_number", join_and_number<P>, sizeof(JoinShared));
  return largest_cluster(join_and_number<P>, kMaxCluster, kJoinThreads, sizeof(JoinShared));
}

template <class P, class View>
void enqueue_job(const ContourEngineSpec& spec, unsigned processors, unsigned cluster, const ImageView& map,
                 const MaskView& mask, void* workspace, const View& out, void* stream) {
  Job<P> job = plan_job<P>(spec);
  place_work(job, workspace);
  job.map = map_of(map, mask, spec.divisor);
  job.out = output_of<P>(out);
  const LaunchOrder later = cluster != 0 ? LaunchOrder::OverlapPrevious : LaunchOrder::AfterPrevious;
  const unsigned tiles = static_cast<unsigned>(job.planes * job.tiles_x * job.tiles_y);
  if (tiles != 0)
    with_sample_type(spec.map.type, [&](auto* tag) {
      using T = std::remove_pointer_t<decltype(tag)>;
      if (is_small(spec, job)) {
        launch("trace_small", trace_small<T, P>, LaunchKind::Plain, LaunchOrder::AfterPrevious, tiles,
               kSmallThreads, sizeof(SmallShared), stream, job);
        return;
      }
      launch("trace_tiles", trace_tiles<T, P>, LaunchKind::Plain, LaunchOrder::AfterPrevious, tiles,
             kWarpThreads, sizeof(TileShared<WarpLinks>), stream, job);
      launch("trace_dense", trace_dense<T, P>, LaunchKind::Plain, LaunchOrder::AfterPrevious,
             std::min(tiles, 2 * processors), kDenseThreads, sizeof(TileShared<WideLinks>), stream, job);
    });
  if (cluster != 0 && is_small(spec, job)) {
    launch("join_and_number", join_and_number<P>, LaunchKind::OneCluster, later, cluster, kJoinThreads,
           sizeof(JoinShared), stream, job);
  } else {
    const unsigned blocks = std::min((job.piece_capacity + kRankThreads - 1) / kRankThreads, 4 * processors);
    launch("join_pieces", join_pieces<P>, LaunchKind::Plain, later, std::max(blocks, 1U), kRankThreads, 0,
           stream, job);
    launch("finish_pieces", finish_pieces<P>, LaunchKind::Plain, later, std::max(blocks, 1U), kRankThreads, 0,
           stream, job);
    launch("number_contours", number_contours<P>, LaunchKind::Plain, later, job.scan_blocks, kScanThreads,
           sizeof(ScanShared), stream, job);
  }
  const unsigned place_blocks =
      std::min((job.segment_capacity + kPlaceThreads - 1) / kPlaceThreads, 8 * processors);
  launch("place_points", place_points<P>, LaunchKind::Plain, later, std::max(place_blocks, 1U), kPlaceThreads,
         0, stream, job);
}

template <class P>
std::size_t workspace_bytes(const ContourEngineSpec& spec) {
  Job<P> job = plan_job<P>(spec);
  return place_work(job, nullptr);
}

template <class P>
void clear_workspace(const ContourEngineSpec& spec, void* workspace, void* stream) {
  Job<P> job = plan_job<P>(spec);
  std::size_t bytes = 0;
  place_work(job, workspace, &bytes);
  CONTORNO_CUDA_CHECK(cudaMemsetAsync(workspace, 0, bytes, static_cast<cudaStream_t>(stream)));
}

}  // namespace contorno::contour_engine
