// The launches with which both image stages of mean shift begin: packing the pixels, then the climb.
#pragma once

#include "stages/mean_shift/filter_kernels.cuh"
#include "stages/shared/device_table.h"

namespace contorno::mean_shift_cuda {

/// The climb of an image stage on CUDA: planned once, enqueued for every frame. Owns its colour table.
class ImageClimb {
 public:
  void plan(PlanContext& context, const MeanShiftImagePlan& plan) {
    decode_ = device_table(std::vector<float>(plan.decode.begin(), plan.decode.end()));
    job_ = ImageJob{.window = plan.window, .colours = plan.colours, .channels = plan.in.channels};
    job_.colours.decode = table_at<float>(decode_);
    separate_ = plan.colours.space != MeanShiftSpace::Rgb;
    pixels_ = static_cast<std::size_t>(plan.in.width) * static_cast<std::size_t>(plan.in.height);
    job_.stride = (plan.in.width + kGroup - 1) / kGroup * kGroup;
    words_ = context.temporary(words_bytes() * (separate_ ? 2 : 1), MemoryKind::Device);
  }

  std::size_t pixels() const { return pixels_; }

  /// Enqueues both kernels. `out` gets the filtered image unless it has no data, `ends` the end of each climb
  /// unless it is null. Returns the arguments of the kernels.
  ImageJob enqueue(const RunContext& context, const ImageView& out, PackedEnd* ends) const {
    const ImageView& in = context.image_in(0);
    ImageJob job = job_;
    job.in = static_cast<const unsigned char*>(in.data), job.in_pitch = in.row_pitch;
    job.out = static_cast<unsigned char*>(out.data), job.out_pitch = out.row_pitch;
    job.values = context.scratch<unsigned>(words_);
    job.places = separate_ ? job.values + words_bytes() / sizeof(unsigned) : job.values;
    job.ends = ends;
    launch("pack_pixels", separate_ ? pack_pixels<false> : pack_pixels<true>, LaunchKind::Plain,
           LaunchOrder::AfterPrevious, (static_cast<unsigned>(words()) + kPixelThreads - 1) / kPixelThreads,
           kPixelThreads, 0, context.stream, job);
    const unsigned tiles = static_cast<unsigned>((job.window.width + kTileX - 1) / kTileX) *
                           static_cast<unsigned>((job.window.height + kTileY - 1) / kTileY);
    launch("climb_pixels", separate_ ? climb_pixels<false> : climb_pixels<true>, LaunchKind::Plain,
           LaunchOrder::AfterPrevious, tiles, kPixelThreads, 0, context.stream, job);
    return job;
  }

 private:
  std::size_t words() const {
    return static_cast<std::size_t>(job_.stride) * static_cast<std::size_t>(job_.window.height);
  }
  std::size_t words_bytes() const { return align_up(words() * sizeof(unsigned)); }

  Block decode_;
  ImageJob job_;
  Scratch words_;
  std::size_t pixels_ = 0;
  bool separate_ = false;
};

}  // namespace contorno::mean_shift_cuda
