#include "plugins/synthetic/sources.h"

#include <fmt/format.h>

#include "base/error.h"
#include "pipeline/shared/threads.h"
#include "plugins/synthetic/paced_source.h"
#include "plugins/synthetic/picture.h"

namespace contorno {
namespace {

using namespace synthetic;

constexpr int kMaxClasses = 256;
constexpr int kFrameChannels = 4;  // red green blue alpha

enum class FruitChoice : std::uint8_t { Mixed, Apples, Oranges, Lemons, Peaches, Tomatoes, Kiwis };

struct SyntheticParams {
  std::vector<double> maps_size = {511, 95};
  std::vector<double> frame_size;
  int classes = 8;
  ElementType number_type = ElementType::F32;
  Layout layout = Layout::Planar;
  FruitChoice fruit = FruitChoice::Mixed;
  int lanes = 0;
  double defects = 0.7;
  double fill = 0.95;
  double speed = 4;
  double spin = 0.33;
  double softness = 1.2;
  double noise = 0.08;
  double camera_noise = 1.5;
  std::int64_t seed = 1;
  double rate = 60;
  std::int64_t frames = 0;
  bool live = false;
  int threads = 0;
};

std::vector<FruitKind> kinds_of(FruitChoice choice) {
  switch (choice) {
    case FruitChoice::Mixed:
      return {FruitKind::RedApple, FruitKind::GreenApple, FruitKind::Orange,
              FruitKind::Lemon,    FruitKind::Peach,      FruitKind::Tomato};
    case FruitChoice::Apples:
      return {FruitKind::RedApple, FruitKind::RedApple, FruitKind::GreenApple};
    case FruitChoice::Oranges:
      return {FruitKind::Orange};
    case FruitChoice::Lemons:
      return {FruitKind::Lemon};
    case FruitChoice::Peaches:
      return {FruitKind::Peach};
    case FruitChoice::Tomatoes:
      return {FruitKind::Tomato};
    case FruitChoice::Kiwis:
      return {FruitKind::Kiwi};
  }
  throw InternalError("unknown choice of fruit");
}

int pixels(double side, const char* what) {
  if (side < 1 || side != std::floor(side))
    throw Error(ExitCode::BadConfig,
                fmt::format("synthetic: {} has a side of {}, allowed are whole numbers from 1 to {} px", what,
                            side, kMaxSide));
  return static_cast<int>(side);
}

Pace pace_of(const SyntheticParams& params) {
  return {.rate = params.rate, .frames = params.frames, .live = params.live};
}

StreamFormat stream_format(const SyntheticParams& params) {
  StreamFormat format = paced_format(pace_of(params));
  const int width = pixels(params.maps_size[0], "maps_size"),
            height = pixels(params.maps_size[1], "maps_size");
  const bool own_size = !params.frame_size.empty();
  const int frame_width = own_size ? pixels(params.frame_size[0], "frame_size") : width;
  const int frame_height = own_size ? pixels(params.frame_size[1], "frame_size") : height;
  format.frame = ImageFormat{.width = frame_width, .height = frame_height, .channels = kFrameChannels};
  format.maps = ImageFormat{.width = width,
                            .height = height,
                            .channels = params.classes,
                            .type = params.number_type,
                            .layout = params.layout,
                            .placement = {.scale_x = static_cast<double>(frame_width) / width,
                                          .scale_y = static_cast<double>(frame_height) / height}};
  format.description = fmt::format("synthetic sorting line, seed {}", params.seed);
  return format;
}

class SyntheticSource final : public PacedSource {
 public:
  explicit SyntheticSource(const SyntheticParams& params) : PacedSource(pace_of(params)) {
    format_ = stream_format(params);
    const int frame_width = format_.frame->width, frame_height = format_.frame->height;
    const auto seed = static_cast<std::uint64_t>(params.seed);
    line_.emplace(LineParams{.seed = seed,
                             .lanes = params.lanes,
                             .kinds = kinds_of(params.fruit),
                             .defective = params.defects,
                             .fill = params.fill,
                             .step = params.speed / params.rate,
                             .spin = params.spin,
                             .labels = params.classes < 4 ? 8 : params.classes,
                             .threads = decided_threads(params.threads)},
                  frame_width, frame_height);
    frames_.emplace(*line_, frame_width, frame_height, params.camera_noise, seed);
    maps_.emplace(*line_, *format_.maps, MapParams{.softness = params.softness, .noise = params.noise}, seed);
  }

 private:
  void make(std::uint64_t number, FrameInput& input) override {
    line_->advance(number);
    frames_->paint(number, input.frame);
    maps_->paint(number, input.maps);
  }

  std::optional<Line> line_;
  std::optional<FramePainter> frames_;
  std::optional<MapPainter> maps_;
};

ParamDeclaration synthetic_params() {
  ParamList<SyntheticParams> list;
  list.numbers("maps_size", &SyntheticParams::maps_size, 2, 2, 1, kMaxSide, Unit::Pixels,
               "Size of the class maps, [width, height].");
  list.numbers("frame_size", &SyntheticParams::frame_size, 0, 2, 1, kMaxSide, Unit::Pixels,
               "Size of the colour frame, [width, height]; empty means that of the maps, which always cover "
               "the whole frame.");
  list.integer("classes", &SyntheticParams::classes, 1, kMaxClasses, Unit::None,
               "Number of class maps: background, skin, stem, bruise, rot, scab, russet, puncture, mould, "
               "sunburn, crack, "
               "insect, in this order; with 3 all defects are one class, with 2 all of the fruit, with 1 "
               "only defects.");
  list.choice("number_type", &SyntheticParams::number_type,
              {{"float32", ElementType::F32}, {"float16", ElementType::F16}, {"uint8", ElementType::U8}},
              "Number type of the maps; uint8 means p * 255.");
  list.choice("layout", &SyntheticParams::layout, {{"chw", Layout::Planar}, {"hwc", Layout::Interleaved}},
              "Order of the maps' sides: classes first or last.");
  list.choice("fruit", &SyntheticParams::fruit,
              {{"mixed", FruitChoice::Mixed},
               {"apples", FruitChoice::Apples},
               {"oranges", FruitChoice::Oranges},
               {"lemons", FruitChoice::Lemons},
               {"peaches", FruitChoice::Peaches},
               {"tomatoes", FruitChoice::Tomatoes},
               {"kiwis", FruitChoice::Kiwis}},
              "What comes along.");
  list.integer("lanes", &SyntheticParams::lanes, 0, 64, Unit::None,
               "Lanes of the line, one below the other; 0 takes as many as suit the frame.");
  list.number("defects", &SyntheticParams::defects, 0, 1, Unit::Fraction,
              "Share of the fruit that has defects.");
  list.number("fill", &SyntheticParams::fill, 0, 1, Unit::Fraction,
              "Share of the places between rollers with a fruit.");
  list.number("speed", &SyntheticParams::speed, 0, 1000, Unit::PerSecond,
              "Fruit that pass in a second, in each lane.");
  list.number("spin", &SyntheticParams::spin, -10, 10, Unit::None,
              "Turns of a fruit on its way to the next place.");
  list.number("softness", &SyntheticParams::softness, 0, 32, Unit::Pixels,
              "How far the edges in the maps are spread.");
  list.number("noise", &SyntheticParams::noise, 0, 1, Unit::Fraction, "Uncertainty of the maps.");
  list.number("camera_noise", &SyntheticParams::camera_noise, 0, 64, Unit::Levels,
              "Deviation of the noise in the frame.");
  list.integer("seed", &SyntheticParams::seed, 0, (std::int64_t{1} << 53) - 1, Unit::None,
               "Which line it is; the same seed gives the same bits.");
  list.number("rate", &SyntheticParams::rate, 0.001, 100000, Unit::PerSecond,
              "Frames a second, which gives the frames their times.");
  list.integer("frames", &SyntheticParams::frames, 0, 1000000000000, Unit::Frames, "How many; 0 is endless.");
  list.flag("live", &SyntheticParams::live,
            "Deliver at the rate, as a camera does, not as fast as possible.");
  list.integer("threads", &SyntheticParams::threads, 0, kMostThreads, Unit::None,
               "Threads that paint; 0 takes as many as the machine has.");
  return declare(std::move(list));
}

}  // namespace

const SourceType& synthetic_source() {
  static const SourceType type{
      .name = "synthetic",
      .summary =
          "Paints a sorting line with fruit that turn under the camera, and gives the true class maps.",
      .params = synthetic_params(),
      .input_param = "seed",
      .example = "source:\n  type: synthetic\n  frame_size: [1022, 190]\n  frames: 300\n",
      .make = [](const ParamSet& params) -> std::unique_ptr<Source> {
        return std::make_unique<SyntheticSource>(params.as<SyntheticParams>());
      },
      .foretell = [](const ParamSet& params) { return stream_format(params.as<SyntheticParams>()); },
  };
  return type;
}

}  // namespace contorno
