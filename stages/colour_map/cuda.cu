// Colour map on the device: one launch a frame.
#include "stages/colour_map/kernels.cuh"
#include "stages/colour_map/plan.h"
#include "stages/shared/device_table.h"

namespace contorno {
namespace colour_map_cuda {
namespace {

class ColourMapCuda final : public Stage {
 public:
  explicit ColourMapCuda(const ParamSet& params) : params_(params.as<ColourMapParams>()) {}

  void plan(PlanContext& context) override {
    plan_ = make_colour_map_plan(params_, context);
    context.set_output(0, plan_.out);
    stops_ = device_table(plan_.stops);
  }

  void run(const RunContext& context) const override {
    const ImageView &in = context.image_in(0), &out = context.image_out(0);
    const unsigned blocks_x = (static_cast<unsigned>(plan_.out.width) + kThreads - 1) / kThreads;
    const Job job{.plane = plane_of(in, params_.channel, probability_scale(in.format.type)),
                  .out = static_cast<unsigned char*>(out.data),
                  .out_pitch = out.row_pitch,
                  .table = plan_.table(params_, table_at<ColourStop>(stops_)),
                  .blocks_x = blocks_x};
    with_sample_type(in.format.type, [&]<class T>(const T*) {
      launch("colour_pixels", colour_pixels<T>, LaunchKind::Plain, LaunchOrder::AfterPrevious,
             blocks_x * static_cast<unsigned>(plan_.out.height), kThreads, 0, context.stream, job);
    });
  }

 private:
  ColourMapParams params_;
  ColourMapPlan plan_;
  Block stops_;
};

}  // namespace
}  // namespace colour_map_cuda

std::unique_ptr<Stage> make_colour_map_cuda(const ParamSet& params) {
  return std::make_unique<colour_map_cuda::ColourMapCuda>(params);
}

}  // namespace contorno
