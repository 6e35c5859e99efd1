// Preprocess on the device: one launch a frame.
#include <algorithm>

#include "base/error.h"
#include "stages/preprocess/kernels.cuh"
#include "stages/preprocess/plan.h"
#include "stages/shared/device_table.h"

namespace contorno {
namespace preprocess_cuda {
namespace {

Steps steps_of(const ImageView& image, bool one_by_one) {
  const auto size = static_cast<std::ptrdiff_t>(element_size(image.format.type));
  if (image.format.layout == Layout::Interleaved)
    return {.row = image.row_pitch,
            .pixel = size * image.format.channels,
            .channel = size,
            .plane = one_by_one ? size : 0};
  return {.row = image.row_pitch,
          .pixel = size,
          .channel = image.plane_pitch,
          .plane = one_by_one ? image.plane_pitch : 0};
}

bool divides(std::size_t unit, const ImageView& image) {
  const auto size = static_cast<std::ptrdiff_t>(unit);
  return reinterpret_cast<std::uintptr_t>(image.data) % unit == 0 && image.row_pitch % size == 0 &&
         image.plane_pitch % size == 0;
}

class PreprocessCuda final : public Stage {
 public:
  explicit PreprocessCuda(const ParamSet& params) : params_(params.as<PreprocessParams>()) {}

  void plan(PlanContext& context) override {
    plan_ = make_preprocess_plan(params_, context);
    context.set_output(0, plan_.out);
    upload_tables();
    job_ = Job{};
    job_.width = plan_.out.width, job_.height = plan_.out.height;
    job_.mixes = plan_.finish.mixes_channels();
    one_by_one_ = plan_.copy || !job_.mixes;
    job_.planes = one_by_one_ ? plan_.in.planes() : 1;
    job_.crop_x = plan_.box.x, job_.crop_y = plan_.box.y;
    job_.row_bytes = plan_.out.row_bytes();
    job_.horizontal = taps_at(horizontal_, plan_.horizontal.stride);
    job_.vertical = taps_at(vertical_, plan_.vertical.stride);
    job_.finish = plan_.finish;
    job_.gains = table_at<float>(gains_), job_.biases = table_at<float>(biases_);
    // Many input columns a pixel: fewer pixels a block, so that its columns fit in one round.
    const int ratio = (plan_.box.width + job_.width - 1) / job_.width;
    job_.tile = plan_.along_rows ? std::clamp(kColumns / (ratio + 1), 1, static_cast<int>(kThreads))
                                 : static_cast<int>(kThreads);
    job_.tiles_x = (job_.width + job_.tile - 1) / job_.tile;
  }

  void run(const RunContext& context) const override {
    const ImageView& in = context.image_in(0);
    const ImageView& out = context.image_out(0);
    Job job = job_;
    job.in = static_cast<const char*>(in.data), job.out = static_cast<char*>(out.data);
    job.from = steps_of(in, one_by_one_), job.to = steps_of(out, one_by_one_);
    if (plan_.copy) {
      run_copy(job, in, out, context.stream);
      return;
    }
    const auto in_words = [](const ImageView& image) {
      return image.format.type == ElementType::U8 && image.format.layout == Layout::Interleaved &&
             image.format.channels == 4 && divides(4, image);
    };
    job.words_in = in_words(in);
    job.words_out =
        in_words(out) && job.planes == 1;  // planes that are worked on one by one are bytes of pixels
    if (plan_.out.type == ElementType::F32)
      run_from<float>(job, context.stream);
    else
      run_from<std::uint8_t>(job, context.stream);
  }

 private:
  struct Tables {
    Block first, count, weights;
  };

  static Tables upload(const AxisTable& table) {
    return {device_table(table.first), device_table(table.count), device_table(table.weights)};
  }
  static AxisTaps taps_at(const Tables& tables, int stride) {
    return {table_at<int>(tables.first), table_at<int>(tables.count), table_at<float>(tables.weights),
            stride};
  }
  void upload_tables() {
    horizontal_ = upload(plan_.horizontal), vertical_ = upload(plan_.vertical);
    gains_ = device_table(plan_.gains), biases_ = device_table(plan_.biases);
  }

  static unsigned blocks(const Job& job) {
    return static_cast<unsigned>(job.tiles_x) * static_cast<unsigned>(job.height) *
           static_cast<unsigned>(job.planes);
  }

  static void run_copy(Job job, const ImageView& in, const ImageView& out, void* stream) {
    const auto crop = static_cast<std::size_t>(job.crop_x) * static_cast<std::size_t>(job.from.pixel);
    const auto enqueue = [&]<class Unit>(Unit*) {
      const std::size_t units = job.row_bytes / sizeof(Unit);
      job.tiles_x = static_cast<int>((units + kThreads - 1) / kThreads);
      launch("copy_rows", copy_rows<Unit>, LaunchKind::Plain, LaunchOrder::AfterPrevious, blocks(job),
             kThreads, 0, stream, job);
    };
    const auto fits = [&](std::size_t unit) {
      return crop % unit == 0 && job.row_bytes % unit == 0 && divides(unit, in) && divides(unit, out);
    };
    if (fits(sizeof(uint4)))
      enqueue(static_cast<uint4*>(nullptr));
    else if (fits(sizeof(unsigned)))
      enqueue(static_cast<unsigned*>(nullptr));
    else
      enqueue(static_cast<unsigned char*>(nullptr));
  }

  template <class Out>
  void run_from(const Job& job, void* stream) const {
    if (plan_.in.type == ElementType::F32)
      run_channels<float, Out>(job, stream);
    else if (plan_.in.type == ElementType::F16)
      run_channels<Half, Out>(job, stream);
    else
      run_channels<std::uint8_t, Out>(job, stream);
  }

  template <class In, class Out>
  void run_channels(const Job& job, void* stream) const {
    const bool planar = plan_.in.layout == Layout::Planar;
    const int channels = planar && one_by_one_ ? 1 : plan_.in.channels;
    if (channels == 1) return run_as<In, Out, 1>(job, stream);
    if (channels == 3) return run_as<In, Out, 3>(job, stream);
    if (channels == 4) return run_as<In, Out, 4>(job, stream);
    throw InternalError("preprocess: pixels of unforeseen channels");
  }

  template <class In, class Out, int kChannels>
  void run_as(const Job& job, void* stream) const {
    if (plan_.along_rows)
      launch("resample_tiles", resample_tiles<In, Out, kChannels>, LaunchKind::Plain,
             LaunchOrder::AfterPrevious, blocks(job), kThreads, kColumns * kChannels * sizeof(float), stream,
             job);
    else
      launch("convert_pixels", convert_pixels<In, Out, kChannels>, LaunchKind::Plain,
             LaunchOrder::AfterPrevious, blocks(job), kThreads, 0, stream, job);
  }

  PreprocessParams params_;
  PreprocessPlan plan_;
  Tables horizontal_, vertical_;
  Block gains_, biases_;
  Job job_;  ///< what does not change from frame to frame
  bool one_by_one_ = false;
};

}  // namespace
}  // namespace preprocess_cuda

std::unique_ptr<Stage> make_preprocess_cuda(const ParamSet& params) {
  return std::make_unique<preprocess_cuda::PreprocessCuda>(params);
}

}  // namespace contorno
