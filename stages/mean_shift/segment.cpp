#include "stages/mean_shift/segment.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "pipeline/shared/loops.h"
#include "stages/mean_shift/climber.h"

namespace contorno {
namespace {

/// Arrays of one entry a pixel, or a region, in one piece of scratch.
struct SegmentArrays {
  PackedEnd* ends = nullptr;
  std::uint32_t* parent = nullptr;   ///< union-find over pixels, then over regions; roots are minima
  std::uint32_t* region = nullptr;   ///< region of each pixel
  RegionSums* sums = nullptr;        ///< sums over each region
  std::uint64_t* nearest = nullptr;  ///< key of the neighbour that each region would join

  static std::size_t bytes(std::size_t pixels) {
    return align_up(pixels * sizeof(PackedEnd)) + 2 * align_up(pixels * sizeof(std::uint32_t)) +
           align_up(pixels * sizeof(RegionSums)) + align_up(pixels * sizeof(std::uint64_t));
  }
  SegmentArrays(std::byte* at, std::size_t pixels) {
    const auto take = [&]<class T>(T*& array) {
      array = reinterpret_cast<T*>(at);
      at += align_up(pixels * sizeof(T));
    };
    take(ends), take(nearest), take(sums), take(parent), take(region);
  }
};

std::uint32_t root_of(std::uint32_t* parent, std::uint32_t one) {
  while (parent[one] != one) {
    parent[one] = parent[parent[one]];
    one = parent[one];
  }
  return one;
}

/// The smaller number becomes the root, so that the root of a set does not depend on the order of unions.
void unite(std::uint32_t* parent, std::uint32_t a, std::uint32_t b) {
  a = root_of(parent, a), b = root_of(parent, b);
  if (a < b)
    parent[b] = a;
  else
    parent[a] = b;
}

class Segmenter {
 public:
  Segmenter(const MeanShiftImagePlan& plan, std::uint32_t min_region, const SegmentArrays& arrays)
      : plan_(plan),
        min_region_(min_region),
        arrays_(arrays),
        width_(static_cast<std::uint32_t>(plan.in.width)),
        pixels_(width_ * static_cast<std::uint32_t>(plan.in.height)) {}

  /// Sets of pixels become regions 0, 1, 2, ... by first appearance.
  void connect() {
    std::uint32_t* parent = arrays_.parent;
    for (std::uint32_t i = 0; i < pixels_; ++i) parent[i] = i;
    for_neighbours([&](std::uint32_t a, std::uint32_t b) {
      if (PackedEnd::joined(arrays_.ends[a], arrays_.ends[b], plan_.window)) unite(parent, a, b);
    });
    regions_ = 0;
    for (std::uint32_t i = 0; i < pixels_; ++i) {
      const std::uint32_t root = root_of(parent, i);
      arrays_.region[i] = root == i ? regions_++ : arrays_.region[root];
    }
  }

  void sum(const ImageView& in, const ImageClimber& climber) {
    std::fill_n(arrays_.sums, regions_, RegionSums{});
    const int channels = plan_.in.channels;
    std::uint32_t i = 0;
    for (int y = 0; y < plan_.in.height; ++y) {
      const auto* from = in.row<const std::uint8_t>(y);
      for (int x = 0; x < plan_.in.width; ++x, ++i, from += channels) {
        RegionSums& sums = arrays_.sums[arrays_.region[i]];
        const std::uint32_t place = climber.place(x, y);
        ++sums.count;
        for (int k = 0; k < 3; ++k) {
          sums.place[k] += place >> (8 * k) & 255U;
          sums.colour[k] += from[std::min(k, channels - 1)];
        }
      }
    }
  }

  /// In rounds: every region that is too small joins its nearest neighbour, all at the same time. Each round
  /// at least halves their number.
  void merge_small() {
    while (round()) {
    }
  }

  void write(const ImageView& in, const ImageView& labels, const ImageView& out) const {
    const int channels = plan_.in.channels, colours = std::min(channels, 3);
    std::uint32_t i = 0;
    for (int y = 0; y < plan_.in.height; ++y) {
      const auto* from = in.row<const std::uint8_t>(y);
      auto* to = out.row<std::uint8_t>(y);
      auto* label = labels.row<float>(y);
      for (int x = 0; x < plan_.in.width; ++x, ++i, from += channels, to += channels) {
        const std::uint32_t region = arrays_.region[i];
        label[x] = static_cast<float>(region);
        for (int k = 0; k < colours; ++k) to[k] = RegionMeans::colour(arrays_.sums[region], k);
        if (channels == 4) to[3] = from[3];
      }
    }
  }

 private:
  template <class F>
  void for_neighbours(const F& f) const {
    for (std::uint32_t i = 0, x = 0; i < pixels_; ++i) {
      if (++x < width_)
        f(i, i + 1);
      else
        x = 0;
      if (i + width_ < pixels_) f(i, i + width_);
    }
  }

  bool round() {
    bool small = false;
    for (std::uint32_t r = 0; r < regions_; ++r) {
      arrays_.parent[r] = r;
      arrays_.nearest[r] = kNoNeighbour;
      small = small || arrays_.sums[r].count < min_region_;
    }
    if (!small || regions_ < 2) return false;
    const auto offer = [&](std::uint32_t to, std::uint32_t other) {
      if (arrays_.sums[to].count >= min_region_) return;
      const std::uint64_t key = RegionMeans::key(arrays_.sums[to], arrays_.sums[other], other);
      arrays_.nearest[to] = std::min(arrays_.nearest[to], key);
    };
    for_neighbours([&](std::uint32_t a, std::uint32_t b) {
      const std::uint32_t first = arrays_.region[a], second = arrays_.region[b];
      if (first == second) return;
      offer(first, second), offer(second, first);
    });
    for (std::uint32_t r = 0; r < regions_; ++r)
      if (arrays_.nearest[r] != kNoNeighbour)
        unite(arrays_.parent, r, static_cast<std::uint32_t>(arrays_.nearest[r]));
    renumber();
    return true;
  }

  /// A root is the first of its regions, and regions are in the order of first appearance: they stay so.
  void renumber() {
    std::uint32_t next = 0;
    auto* number = reinterpret_cast<std::uint32_t*>(arrays_.nearest);  // no longer needed
    for (std::uint32_t r = 0; r < regions_; ++r) {
      const std::uint32_t root = root_of(arrays_.parent, r);
      const RegionSums sums = arrays_.sums[r];
      if (root == r) {
        number[r] = next;
        arrays_.sums[next++] = sums;  // next <= r: what was there has been taken
        continue;
      }
      number[r] = number[root];
      RegionSums& into = arrays_.sums[number[r]];
      into.count += sums.count;
      for (int k = 0; k < 3; ++k) into.place[k] += sums.place[k], into.colour[k] += sums.colour[k];
    }
    for (std::uint32_t i = 0; i < pixels_; ++i) arrays_.region[i] = number[arrays_.region[i]];
    regions_ = next;
  }

  const MeanShiftImagePlan& plan_;
  std::uint32_t min_region_;
  SegmentArrays arrays_;
  std::uint32_t width_, pixels_, regions_ = 0;
};

class MeanShiftSegmentCpu final : public Stage {
 public:
  explicit MeanShiftSegmentCpu(const ParamSet& params) : params_(params.as<MeanShiftSegmentParams>()) {}

  void plan(PlanContext& context) override {
    plan_ = make_mean_shift_segment_plan(params_, context.image(0));
    ImageFormat labels = plan_.in;
    labels.channels = 1, labels.type = ElementType::F32, labels.layout = Layout::Planar;
    context.set_output(0, plan_.in);
    context.set_output(1, labels);
    planes_ = context.temporary(ImageClimber::scratch_bytes(plan_), MemoryKind::Host);
    arrays_ = context.temporary(SegmentArrays::bytes(pixels()), MemoryKind::Host);
  }

  void run(const RunContext& context) const override {
    const ImageView& in = context.image_in(0);
    ImageClimber climber(plan_, best_simd());
    climber.load(in, context.scratch<std::uint16_t>(planes_), context.threads);
    const SegmentArrays arrays(context.scratch<std::byte>(arrays_), pixels());
    for_tasks(context.threads, plan_.in.height, [&](int y) {
      PackedEnd* ends = arrays.ends + static_cast<std::ptrdiff_t>(y) * plan_.in.width;
      for (int x = 0; x < plan_.in.width; ++x) ends[x] = PackedEnd::of(climber.climb(x, y).state);
    });
    Segmenter segmenter(plan_, static_cast<std::uint32_t>(params_.min_region), arrays);
    segmenter.connect();
    segmenter.sum(in, climber);
    segmenter.merge_small();
    segmenter.write(in, context.image_out(1), context.image_out(0));
  }

 private:
  std::size_t pixels() const {
    return static_cast<std::size_t>(plan_.in.width) * static_cast<std::size_t>(plan_.in.height);
  }

  MeanShiftSegmentParams params_;
  MeanShiftImagePlan plan_;
  Scratch planes_, arrays_;
};

}  // namespace

MeanShiftImagePlan make_mean_shift_segment_plan(const MeanShiftSegmentParams& params, const ImageFormat& in) {
  if (static_cast<std::int64_t>(in.width) * in.height > kMaxSegmentPixels)
    throw Error(
        ExitCode::BadConfig,
        fmt::format(
            "mean_shift_segment: the image is {}x{}, allowed up to {} pixels; shrink it with preprocess",
            in.width, in.height, kMaxSegmentPixels));
  return make_mean_shift_image_plan("mean_shift_segment", params, in);
}

const StageType& mean_shift_segment_stage() {
  static const StageType type = [] {
    ParamList<MeanShiftSegmentParams> list;
    add_window_params(list);
    list.integer("min_region", &MeanShiftSegmentParams::min_region, 1, kMaxSegmentPixels, Unit::Pixels,
                 "Regions of fewer pixels join the neighbour that is nearest in colour.");
    StageType stage{
        .name = "mean_shift_segment",
        .summary = "Divides an image into regions of like colour by mean shift.",
        .inputs = {{"image", PortType::Image, "The image: grey, RGB or RGBA, uint8.", From::FrameOrMaps}},
        .outputs = {{"image", PortType::Image, "The image with every region in its mean colour."},
                    {"labels", PortType::Image, "The number of each pixel's region, by first appearance."}},
        .params = declare(std::move(list)),
        .example = "- type: mean_shift_segment\n  spatial: 7\n  colour: 14\n  min_region: 60\n",
        .make_cpu = [](const ParamSet& p) { return std::make_unique<MeanShiftSegmentCpu>(p); },
        .make_cuda = on_cuda<make_mean_shift_segment_cuda>(),
    };
    return stage;
  }();
  return type;
}

}  // namespace contorno
