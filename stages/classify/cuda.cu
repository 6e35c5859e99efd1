// Classify on the device: one launch a frame.
#include <algorithm>

#include "stages/classify/kernels.cuh"
#include "stages/classify/plan.h"
#include "stages/shared/device_table.h"

namespace contorno {
namespace classify_cuda {
namespace {

class ClassifyCuda final : public Stage {
 public:
  explicit ClassifyCuda(const ParamSet& params) : params_(params.as<ClassifyParams>()) {}

  void plan(PlanContext& context) override {
    const ClassifyPlan plan = make_classify_plan(params_, context);
    context.set_output(0, plan.out);
    decode_ = device_table(std::vector<float>(plan.decode.begin(), plan.decode.end()));
    references_ = device_table(plan.references), ranges_ = device_table(plan.ranges);
    classes_ = device_table(plan.classes), weights_ = device_table(plan.weights);
    job_ = Job{};
    job_.pixel = plan.pixel;
    job_.pixel.decode = table_at<float>(decode_);
    job_.pixel.references = table_at<Triple>(references_),
    job_.pixel.ranges = table_at<ClassifyRange>(ranges_);
    job_.classes = table_at<ClassifyClass>(classes_), job_.weights = table_at<float>(weights_);
    job_.class_count = static_cast<int>(plan.classes.size()), job_.rest_class = plan.rest_class;
    job_.radius = params_.smooth, job_.ranges = !plan.ranges.empty();
    job_.width = plan.in.width, job_.height = plan.in.height, job_.channels = plan.in.channels;
    job_.tiles_x = (job_.width + kTile - 1) / kTile, job_.tiles_y = (job_.height + kTile - 1) / kTile;
    plan_shared();
  }

  void run(const RunContext& context) const override {
    const ImageView& in = context.image_in(0);
    const ImageView& out = context.image_out(0);
    Job job = job_;
    job.in = static_cast<const unsigned char*>(in.data), job.in_pitch = in.row_pitch;
    job.out = static_cast<unsigned char*>(out.data), job.out_pitch = out.row_pitch;
    job.out_plane_pitch = out.plane_pitch;
    job.words =
        job.channels == 4 && reinterpret_cast<std::uintptr_t>(in.data) % 4 == 0 && in.row_pitch % 4 == 0;
    const auto tiles = static_cast<unsigned>(job.tiles_x) * static_cast<unsigned>(job.tiles_y);
    const auto enqueue = [&](auto* kernel) {
      launch("classify_tiles", kernel, LaunchKind::Plain, LaunchOrder::AfterPrevious, tiles, kThreads,
             shared_bytes_, context.stream, job);
    };
    if (params_.output == MapType::Float32)
      enqueue(classify_tiles<float>);
    else
      enqueue(classify_tiles<std::uint8_t>);
  }

 private:
  static std::size_t bytes_of(int radius, int group) {
    return static_cast<std::size_t>(Parts(radius, group).end) * sizeof(float);
  }

  void plan_shared() {
    int device = 0, largest = 0;
    CONTORNO_CUDA_CHECK(cudaGetDevice(&device));
    CONTORNO_CUDA_CHECK(cudaDeviceGetAttribute(&largest, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    const std::size_t limit = std::min(kSharedBytes, static_cast<std::size_t>(largest));
    job_.group = 1;
    while (job_.group < job_.class_count && bytes_of(job_.radius, job_.group + 1) <= limit) ++job_.group;
    shared_bytes_ = bytes_of(job_.radius, job_.group);
    // The limit belongs to the kernel and not to this stage: always the same, so that stages do not disturb
    // each other.
    allow_shared("classify_tiles", classify_tiles<float>, limit);
    allow_shared("classify_tiles", classify_tiles<std::uint8_t>, limit);
  }

  ClassifyParams params_;
  Block decode_, references_, ranges_, classes_, weights_;
  Job job_;  ///< what does not change from frame to frame
  std::size_t shared_bytes_ = 0;
};

}  // namespace
}  // namespace classify_cuda

std::unique_ptr<Stage> make_classify_cuda(const ParamSet& params) {
  return std::make_unique<classify_cuda::ClassifyCuda>(params);
}

}  // namespace contorno
