#include <fmt/format.h>

#include <thread>

#include "cuda/error.h"
#include "cuda/memory.h"
#include "plugins/paced_source.h"
#include "plugins/synthetic.h"
#include "stages/diamond_square.h"

namespace contorno {
namespace {

enum class Delivers : std::uint8_t { Both, Frame, Maps };

struct FieldParams {
  std::vector<double> size = {513, 513};
  ElementType type = ElementType::U8;
  int channels = 1;
  std::int64_t seed = 0;
  int exponent = 0;
  DiamondSquareDomain domain = DiamondSquareDomain::Finite;
  DiamondSquareRange range = DiamondSquareRange::Paper;
  double roughness = 1, amplitude = 1;
  std::vector<double> corners;
  std::vector<double> origin = {0, 0};
  bool still = false;
  Delivers deliver = Delivers::Both;
  double rate = 30;
  std::int64_t frames = 0;
  bool live = false;
  int threads = 0;
};

int whole(double v, const char* what) {
  if (v != std::floor(v))
    throw Error(ExitCode::BadConfig,
                fmt::format("diamond_square: {} has the number {}, allowed are whole ones", what, v));
  return static_cast<int>(v);
}

class FieldSource final : public PacedSource {
 public:
  explicit FieldSource(const FieldParams& params)
      : PacedSource({.rate = params.rate, .frames = params.frames, .live = params.live}), params_(params) {
    const ImageFormat heights{.width = std::max(1, whole(params.size[0], "size")),
                              .height = std::max(1, whole(params.size[1], "size")),
                              .channels = params.channels,
                              .type = params.type,
                              .layout = Layout::Planar};
    const int threads = params.threads > 0
                            ? params.threads
                            : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    field_.emplace(DiamondSquareParams{.seed = static_cast<std::uint64_t>(params.seed),
                                       .exponent = params.exponent,
                                       .domain = params.domain,
                                       .range = params.range,
                                       .roughness = params.roughness,
                                       .amplitude = params.amplitude,
                                       .corners = params.corners,
                                       .row = whole(params.origin[1], "origin"),
                                       .col = whole(params.origin[0], "origin")},
                   heights, threads);
    if (params.deliver != Delivers::Frame) format_.maps = heights;
    if (params.deliver != Delivers::Maps) {
      format_.frame =
          ImageFormat{.width = heights.width, .height = heights.height, .channels = kFrameChannels};
      if (params.deliver == Delivers::Frame) {
        own_ = Block(packed_bytes(heights), MemoryKind::Host);
        heights_ = packed_view(own_.data(), heights);
      }
    }
    format_.description = fmt::format("diamond square, seed {}, {}", params.seed, describe(heights));
  }

 private:
  static constexpr int kFrameChannels = 4;  // grey three times, alpha

  void make(std::uint64_t number, FrameInput& input) override {
    const ImageView& heights = params_.deliver == Delivers::Frame ? heights_ : input.maps;
    field_->generate(static_cast<std::uint64_t>(params_.seed) + (params_.still ? 0 : number), heights);
    if (params_.deliver == Delivers::Maps) return;
    for (int y = 0; y < heights.format.height; ++y) {
      if (params_.type == ElementType::U8)
        show<std::uint8_t>(input.frame, heights, y, [](std::uint8_t v) { return v; });
      else if (params_.type == ElementType::U16)
        show<std::uint16_t>(input.frame, heights, y,
                            [](std::uint16_t v) { return static_cast<std::uint8_t>(v >> 8); });
      else
        show<float>(input.frame, heights, y,
                    [](float v) { return static_cast<std::uint8_t>(v * 255 + 0.5F); });
    }
  }

  /// Grey from one channel, colours from three.
  template <class T, class F>
  static void show(const ImageView& frame, const ImageView& heights, int y, const F& byte_of) {
    auto* to = frame.row<std::uint8_t>(y);
    const bool coloured = heights.format.channels > 2;
    const T *red = heights.row<T>(y, 0), *green = heights.row<T>(y, coloured ? 1 : 0),
            *blue = heights.row<T>(y, coloured ? 2 : 0);
    for (int x = 0; x < frame.format.width; ++x, to += kFrameChannels)
      to[0] = byte_of(red[x]), to[1] = byte_of(green[x]), to[2] = byte_of(blue[x]), to[3] = 255;
  }

  FieldParams params_;
  std::optional<DiamondSquare> field_;
  Block own_;
  ImageView heights_;
};

ParamDeclaration field_params() {
  ParamList<FieldParams> list;
  list.numbers("size", &FieldParams::size, 2, 2, 1, kMaxSide, Unit::Pixels,
               "Size of the image, [width, height].");
  list.choice("type", &FieldParams::type,
              {{"uint8", ElementType::U8}, {"uint16", ElementType::U16}, {"float32", ElementType::F32}},
              "Number type of the heights; float32 means 0 to 1.");
  list.integer("channels", &FieldParams::channels, 1, 256, Unit::None,
               "How many fields, each its own; 3 give colours.");
  list.integer("seed", &FieldParams::seed, 0, std::int64_t{1} << 53, Unit::None,
               "Which field it is; every frame's is one more than that of the frame before.");
  list.flag("still", &FieldParams::still, "Keep the seed from frame to frame.");
  list.integer("exponent", &FieldParams::exponent, 0, kMaxDiamondSquareExponent, Unit::None,
               "Corners are 2^exponent px apart; 0 takes the smallest that covers the image.");
  list.choice("domain", &FieldParams::domain,
              {{"finite", DiamondSquareDomain::Finite},
               {"cyclic", DiamondSquareDomain::Cyclic},
               {"endless", DiamondSquareDomain::Endless}},
              "What lies outside: nothing, the same field again (a texture that tiles), or more of it.");
  list.choice("range", &FieldParams::range,
              {{"paper", DiamondSquareRange::Paper}, {"unbiased", DiamondSquareRange::Unbiased}},
              "Random numbers and rounding of integer heights; the paper's let them drift downwards.");
  list.number("roughness", &FieldParams::roughness, 0, 3, Unit::None,
              "Random numbers shrink by 2^-roughness a level; the paper's is 1, less is rougher.");
  list.number("amplitude", &FieldParams::amplitude, 0, 8, Unit::None,
              "Factor of the random numbers; the paper's is 1.");
  list.numbers("corners", &FieldParams::corners, 0, 4, 0, 1, Unit::Fraction,
               "Heights of the corners, [top left, top right, bottom left, bottom right] (one if cyclic); "
               "empty is random.");
  list.numbers("origin", &FieldParams::origin, 2, 2, -2147483648.0, 2147483647.0, Unit::Pixels,
               "Cell of the field at the image's top left, [x, y].");
  list.choice("deliver", &FieldParams::deliver,
              {{"both", Delivers::Both}, {"frame", Delivers::Frame}, {"maps", Delivers::Maps}},
              "Heights as a grey frame, as class maps (of which contours are contour lines), or both.");
  list.number("rate", &FieldParams::rate, 0.001, 100000, Unit::PerSecond,
              "Frames a second, which gives the frames their times.");
  list.integer("frames", &FieldParams::frames, 0, 1000000000000, Unit::Frames, "How many; 0 is endless.");
  list.flag("live", &FieldParams::live, "Deliver at the rate, as a camera does, not as fast as possible.");
  list.integer("threads", &FieldParams::threads, 0, 1024, Unit::None,
               "Threads that work; 0 takes as many as the machine has.");
  return declare(std::move(list));
}

}  // namespace

const SourceType& diamond_square_source() {
  static const SourceType type{
      .name = "diamond_square",
      .summary = "Makes random fields of heights by the Diamond-Square algorithm.",
      .params = field_params(),
      .input_param = "seed",
      .example = "source:\n  type: diamond_square\n  size: [640, 360]\n  frames: 10\n",
      .make = [](const ParamSet& params) -> std::unique_ptr<Source> {
        return std::make_unique<FieldSource>(params.as<FieldParams>());
      },
  };
  return type;
}

}  // namespace contorno
