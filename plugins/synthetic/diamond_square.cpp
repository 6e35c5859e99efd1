#include <fmt/format.h>

#include <optional>

#include "base/error.h"
#include "base/memory.h"
#include "pipeline/shared/threads.h"
#include "plugins/synthetic/paced_source.h"
#include "plugins/synthetic/sources.h"
#include "stages/diamond_square/params.h"

namespace contorno {
namespace {

enum class Delivers : std::uint8_t { Both, Frame, Maps };

struct SourceOptions : FieldOptions {
  bool still = false;
  Delivers deliver = Delivers::Both;
  double rate = 30;
  std::int64_t frames = 0;
  bool live = false;
  int threads = 0;
};

class FieldSource final : public PacedSource {
 public:
  explicit FieldSource(const SourceOptions& params) : PacedSource(pace_of(params)), params_(params) {
    const ImageFormat heights = heights_format(params);
    field_.emplace(field_params(params), heights, decided_threads(params.threads));
    if (params.deliver == Delivers::Frame) {
      own_ = Block(packed_bytes(heights), MemoryKind::Host);
      heights_ = packed_view(own_.data(), heights);
    }
    describe_stream(params, format_);
  }

  static StreamFormat foretell(const SourceOptions& params) {
    StreamFormat format = paced_format(pace_of(params));
    describe_stream(params, format);
    return format;
  }

 private:
  static constexpr int kFrameChannels = 4;  // grey three times, alpha

  static Pace pace_of(const SourceOptions& params) {
    return {.rate = params.rate, .frames = params.frames, .live = params.live};
  }
  static ImageFormat heights_format(const SourceOptions& params) {
    ImageFormat heights = field_format(params);
    heights.layout = Layout::Planar;
    return heights;
  }
  static void describe_stream(const SourceOptions& params, StreamFormat& format) {
    const ImageFormat heights = heights_format(params);
    if (params.deliver != Delivers::Frame) format.maps = heights;
    if (params.deliver != Delivers::Maps)
      format.frame =
          ImageFormat{.width = heights.width, .height = heights.height, .channels = kFrameChannels};
    format.description = fmt::format("diamond square, seed {}, {}", params.seed, describe(heights));
  }

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

  SourceOptions params_;
  std::optional<DiamondSquare> field_;
  Block own_;
  ImageView heights_;
};

ParamDeclaration source_params() {
  ParamList<SourceOptions> list;
  list_field(list);
  list.flag("still", &SourceOptions::still,
            "The same field again and again; else every frame's seed is one more.");
  list.choice("deliver", &SourceOptions::deliver,
              {{"both", Delivers::Both}, {"frame", Delivers::Frame}, {"maps", Delivers::Maps}},
              "Heights as a grey frame, as class maps (of which contours are contour lines), or both.");
  list.number("rate", &SourceOptions::rate, 0.001, 100000, Unit::PerSecond,
              "Frames a second, which gives the frames their times.");
  list.integer("frames", &SourceOptions::frames, 0, 1000000000000, Unit::Frames, "How many; 0 is endless.");
  list.flag("live", &SourceOptions::live, "Deliver at the rate, as a camera does, not as fast as possible.");
  list.integer("threads", &SourceOptions::threads, 0, kMostThreads, Unit::None,
               "Threads that work; 0 takes as many as the machine has.");
  return declare(std::move(list));
}

}  // namespace

const SourceType& diamond_square_source() {
  static const SourceType type{
      .name = "diamond_square",
      .summary = "Makes random fields of heights by the Diamond-Square algorithm.",
      .params = source_params(),
      .input_param = "seed",
      .example = "source:\n  type: diamond_square\n  size: [640, 360]\n  frames: 10\n",
      .make = [](const ParamSet& params) -> std::unique_ptr<Source> {
        return std::make_unique<FieldSource>(params.as<SourceOptions>());
      },
      .foretell = [](const ParamSet& params) { return FieldSource::foretell(params.as<SourceOptions>()); },
  };
  return type;
}

}  // namespace contorno
