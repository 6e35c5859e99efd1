// An extension with one of each: a source, a stage on contours, and a sink.
#include <cmath>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>

#include "base/error.h"
#include "geometry/contour_size.h"
#include "plugins/extension.h"
#include "stages/contour_prep/shared/on_host.h"
#include "stages/contour_prep/shared/outputs.h"

namespace {

struct RampParams {
  std::int64_t frames = 2, width = 9;
};

/// Maps of one class that rise from 0 at the left to 1 at the right.
class Ramp final : public contorno::Source {
 public:
  explicit Ramp(const RampParams& params) : frames_(params.frames) {
    format_.maps = {.width = static_cast<int>(params.width),
                    .height = 4,
                    .channels = 1,
                    .type = contorno::ElementType::F32};
    format_.frame_count = frames_;
    format_.description = "a ramp";
  }
  const contorno::StreamFormat& format() const override { return format_; }
  contorno::ReadResult read(contorno::FrameInput& input) override {
    if (next_ == frames_) return contorno::ReadResult::End;
    for (int y = 0; y < format_.maps->height; ++y)
      for (int x = 0; x < format_.maps->width; ++x)
        input.maps.row<float>(y)[x] = static_cast<float>(x) / static_cast<float>(format_.maps->width - 1);
    input.info.pts_ns = next_++ * 100'000'000;
    return contorno::ReadResult::Frame;
  }
  void cancel() override {}

 private:
  contorno::StreamFormat format_;
  std::int64_t frames_, next_ = 0;
};

const contorno::SourceType& ramp_source() {
  static const contorno::SourceType type{
      .name = "ramp",
      .summary = "Maps of one class that rise to the right.",
      .params = contorno::declare(
          contorno::ParamList<RampParams>()
              .integer("frames", &RampParams::frames, 1, 1000, contorno::Unit::Frames,
                       "How many frames come.")
              .integer("width", &RampParams::width, 2, 1000, contorno::Unit::Pixels, "Width of the maps.")),
      .input_param = {},
      .example = "source: {type: ramp, frames: 3}\n",
      .make =
          [](const contorno::ParamSet& params) { return std::make_unique<Ramp>(params.as<RampParams>()); },
      .foretell = {}};
  return type;
}

struct KeepLongParams {
  double least = 2;
};

/// Leaves out contours that are short.
struct KeepLong {
  using Params = KeepLongParams;
  static constexpr const char* kName = "keep_long";
  static constexpr contorno::Gives kGives = contorno::Gives::Choice;
  static constexpr contorno::ContourTeams kTeams{};

  explicit KeepLong(const Params& params)
      : least(static_cast<std::uint64_t>(std::llround(params.least * contorno::kSizeUnits))) {}

  CONTORNO_FOR_TEAMS
  template <class Team>
  CONTORNO_HD bool operator()(const Team& team, const contorno::ContoursView& in,
                              std::uint32_t contour) const {
    return contorno::size_in_units(team, contorno::ContourSize::Length, in, contour) >= least;
  }

  std::uint64_t least = 0;
};

const contorno::StageType& keep_long_stage() {
  static const contorno::StageType type =
      contorno::contour_step({.name = KeepLong::kName,
                              .summary = "Leaves out contours that are short.",
                              .gives = "Those that are long enough, in their order.",
                              .params = contorno::declare(contorno::ParamList<KeepLongParams>().number(
                                  "least", &KeepLongParams::least, 0, 1e9, contorno::Unit::Pixels,
                                  "Shorter contours are left out.")),
                              .example = "- type: keep_long\n  least: 4\n",
                              .make_cpu = contorno::make_per_contour<KeepLong, contorno::OnHost>});
  return type;
}

struct TallyParams {
  std::string path = "tally.txt";
};

/// Counts frames and contours, and writes the counts at the end.
class Tally final : public contorno::Sink {
 public:
  explicit Tally(const TallyParams& params) : path_(params.path) {}
  void open(const contorno::SinkContext& context) override { folder_ = context.output_root; }
  void write(const contorno::FrameInfo&, const contorno::Value& value) override {
    ++frames_;
    contours_ += std::get<contorno::ContoursView>(value).counts->contours;
  }
  void finish() override {
    std::ofstream file(folder_ + "/" + path_);
    file << frames_ << " frames, " << contours_ << " contours\n";
    if (!file.flush()) throw contorno::Error(contorno::ExitCode::Io, "cannot write " + path_);
  }

 private:
  std::string path_, folder_;
  std::uint64_t frames_ = 0, contours_ = 0;
};

const contorno::SinkType& tally_sink() {
  static const contorno::SinkType type{.name = "tally",
                                       .summary = "Counts frames and contours.",
                                       .input = contorno::PortType::Contours,
                                       .params = contorno::declare(contorno::ParamList<TallyParams>().text(
                                           "path", &TallyParams::path, "The file of the counts.")),
                                       .example = "- {type: tally, path: tally.txt}\n",
                                       .make = [](const contorno::ParamSet& params) {
                                         return std::make_unique<Tally>(params.as<TallyParams>());
                                       }};
  return type;
}

contorno::Extension extension() {
  return {.stages = {&keep_long_stage()}, .sources = {&ramp_source()}, .sinks = {&tally_sink()}};
}

}  // namespace

CONTORNO_EXTENSION(extension);
