// mean_shift_segment on the device: three launches a frame.
#include <algorithm>

#include "stages/mean_shift/image_launch.cuh"
#include "stages/mean_shift/segment.h"
#include "stages/mean_shift/segment_kernels.cuh"

namespace contorno {
namespace {

using namespace mean_shift_cuda;

constexpr int kMostBlocks = 4;  // a multiprocessor: barriers get slower with more

class MeanShiftSegmentCuda final : public Stage {
 public:
  explicit MeanShiftSegmentCuda(const ParamSet& params) : params_(params.as<MeanShiftSegmentParams>()) {}

  void plan(PlanContext& context) override {
    const MeanShiftImagePlan plan = make_mean_shift_segment_plan(params_, context.image(0));
    ImageFormat labels = plan.in;
    labels.channels = 1, labels.type = ElementType::F32, labels.layout = Layout::Planar;
    context.set_output(0, plan.in);
    context.set_output(1, labels);
    climb_.plan(context, plan);
    int each = 0;
    CONTORNO_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &each, segment_regions, static_cast<int>(kRegionThreads), kShared));
    const auto wanted = static_cast<unsigned>((climb_.pixels() + kRegionThreads - 1) / kRegionThreads);
    blocks_ = std::min(wanted, multiprocessors() * static_cast<unsigned>(std::clamp(each, 1, kMostBlocks)));
    const auto array = [&](std::size_t size) {
      return context.temporary(climb_.pixels() * size, MemoryKind::Device);
    };
    ends_ = array(sizeof(PackedEnd)), parent_ = array(sizeof(unsigned)), root_ = array(sizeof(unsigned));
    sums_ = array(sizeof(RegionSums)), nearest_ = array(sizeof(unsigned long long));
    control_ = context.temporary(sizeof(RegionControl), MemoryKind::Device);
    counts_ = context.temporary(blocks_ * sizeof(unsigned), MemoryKind::Device);
  }

  void run(const RunContext& context) const override {
    const ImageView& labels = context.image_out(1);
    const ImageView& out = context.image_out(0);
    RegionJob job;
    job.ends = context.scratch<PackedEnd>(ends_);
    job.image = climb_.enqueue(context, ImageView{}, context.scratch<PackedEnd>(ends_));
    job.image.out = static_cast<unsigned char*>(out.data), job.image.out_pitch = out.row_pitch;
    job.min_region = static_cast<unsigned>(params_.min_region);
    job.pixels = static_cast<unsigned>(climb_.pixels());
    job.parent = context.scratch<unsigned>(parent_), job.root = context.scratch<unsigned>(root_);
    job.sums = context.scratch<RegionSums>(sums_);
    job.nearest = context.scratch<unsigned long long>(nearest_);
    job.block_counts = context.scratch<unsigned>(counts_);
    job.control = context.scratch<RegionControl>(control_);
    job.labels = static_cast<float*>(labels.data), job.labels_pitch = labels.row_pitch;
    fill_async(job.control, 0, sizeof(RegionControl), context.stream);
    launch("segment_regions", segment_regions, LaunchKind::Cooperative, LaunchOrder::AfterPrevious, blocks_,
           kRegionThreads, kShared, context.stream, job);
  }

 private:
  static constexpr std::size_t kShared = kRegionThreads / 32 * sizeof(unsigned);

  MeanShiftSegmentParams params_;
  ImageClimb climb_;
  unsigned blocks_ = 1;
  Scratch ends_, parent_, root_, sums_, nearest_, control_, counts_;
};

}  // namespace

std::unique_ptr<Stage> make_mean_shift_segment_cuda(const ParamSet& params) {
  return std::make_unique<MeanShiftSegmentCuda>(params);
}

}  // namespace contorno
