// Small stages, a graph of them and a source of its frames, for tests on devices that the host plays.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "pipeline/graph/graph.h"
#include "pipeline/graph/sink.h"
#include "pipeline/graph/source.h"
#include "tests/pipeline/played_device.h"

namespace contorno::test {

inline constexpr std::uint8_t kBad = 253;  // the first byte of a frame that the stage on the host refuses

enum class Kind : std::uint8_t { Invert, Maps, Sum, Count };

/// Four small stages, each once: as a function of what it sees, which a played device calls when the work is
/// launched.
struct Small final : Stage {
  Kind kind;
  bool on_device;
  int sleep_ms;
  State seen{};
  Scratch row{};

  Small(Kind which, bool device, int sleep) : kind(which), on_device(device), sleep_ms(sleep) {}

  void plan(PlanContext& context) override {
    ImageFormat out = context.image(0);
    if (kind == Kind::Maps) {
      out.channels = 2, out.type = ElementType::F32, out.layout = Layout::Planar;
      row = context.temporary(out.row_bytes(), MemoryKind::Host);
    }
    if (kind == Kind::Count) seen = context.state(sizeof(std::uint64_t));
    context.set_output(0, out);
  }

  void run(const RunContext& context) const override {
    const auto work = [this, at = &context] { compute(*at); };
    if (on_device)
      enqueue_on_device(work);
    else
      work();
  }

  void compute(const RunContext& context) const {
    const ImageView &in = context.image_in(0), &out = context.image_out(0);
    if (kind == Kind::Maps && *in.row<std::uint8_t>(0) == 255 - kBad)
      throw Error(ExitCode::BadData, "refused");
    if (sleep_ms > 0) std::this_thread::sleep_for(std::chrono::milliseconds(sleep_ms));
    std::uint64_t frames = 0;
    if (kind == Kind::Count) {
      frames = *context.state_before<std::uint64_t>(seen) + *in.row<std::uint8_t>(0);
      *context.state_after<std::uint64_t>(seen) = frames;
    }
    for (int plane = 0; plane < out.format.planes(); ++plane)
      for (int y = 0; y < out.format.height; ++y)
        for (std::size_t i = 0; i < out.format.samples_per_row(); ++i) {
          switch (kind) {
            case Kind::Invert:
              out.row<std::uint8_t>(y)[i] = static_cast<std::uint8_t>(255 - in.row<std::uint8_t>(y)[i]);
              break;
            case Kind::Maps:
              context.scratch<float>(row)[i] =
                  static_cast<float>(in.row<std::uint8_t>(y)[i * 3 + static_cast<unsigned>(plane)]);
              out.row<float>(y, plane)[i] = context.scratch<float>(row)[i] / 255;
              break;
            case Kind::Sum:
              out.row<float>(y, plane)[i] =
                  in.row<float>(y, plane)[i] + context.image_in(1).row<float>(y, plane)[i];
              break;
            case Kind::Count:
              out.row<std::uint8_t>(y)[i] = static_cast<std::uint8_t>(in.row<std::uint8_t>(y)[i] + frames);
              break;
          }
        }
  }
};

inline StageType type_of(const char* name, Kind kind, int sleep_ms = 0) {
  struct None {};
  StageType type{.name = name,
                 .summary = "Small.",
                 .outputs = {{"image", PortType::Image, "It."}},
                 .params = declare(ParamList<None>())};
  for (int port = 0; port < (kind == Kind::Sum ? 2 : 1); ++port)
    type.inputs.push_back({"in" + std::to_string(port), PortType::Image, "It.", From::FrameOrMaps});
  type.make_cpu = [=](const ParamSet&) { return std::make_unique<Small>(kind, false, sleep_ms); };
  if (kind == Kind::Maps)
    type.on_host = true;
  else
    type.make_cuda = [=](const ParamSet&) { return std::make_unique<Small>(kind, true, 0); };
  return type;
}

/// invert -> maps (on the host, and so is invert) -> sum with the source's maps; count of what invert makes.
struct Four {
  enum Node : int { Invert, Maps, Sum, Count };
  StageType types[4];
  GraphSpec graph;
  StreamFormat stream;

  explicit Four(int sleep_ms = 0)
      : types{type_of("invert", Kind::Invert), type_of("maps", Kind::Maps, sleep_ms),
              type_of("sum", Kind::Sum), type_of("count", Kind::Count)} {
    stream = {
        .frame = ImageFormat{.width = 37, .height = 21, .channels = 3},
        .maps =
            ImageFormat{
                .width = 37, .height = 21, .channels = 2, .type = ElementType::F32, .layout = Layout::Planar},
        .description = "four"};
    add({{Origin::kSource, Origin::kFrame}});
    add({{Invert, 0}});
    add({{Maps, 0}, {Origin::kSource, Origin::kMaps}});
    add({{Invert, 0}});
  }
  void add(std::vector<Origin> inputs) {
    const StageType& type = types[graph.nodes.size()];
    graph.nodes.push_back(
        {.name = type.name, .type = &type, .params = ParamSet(type.params), .inputs = std::move(inputs)});
  }
};

struct FourFrames final : Source {
  StreamFormat stream;
  int next = 0;
  explicit FourFrames(StreamFormat format) : stream(std::move(format)) {}
  const StreamFormat& format() const override { return stream; }
  ReadResult read(FrameInput& input) override {
    if (next == 20) return ReadResult::End;
    for (int y = 0; y < stream.frame->height; ++y)
      for (int x = 0; x < stream.frame->width; ++x) {
        for (int c = 0; c < 3; ++c)
          input.frame.row<std::uint8_t>(y)[3 * x + c] =
              static_cast<std::uint8_t>((x * 5 + y * 3 + c * 7 + next * 11) % 251);
        for (int plane = 0; plane < 2; ++plane)
          input.maps.row<float>(y, plane)[x] = static_cast<float>((x + y * plane + next) % 9);
      }
    if (next == 0 || next == 6 || next == 7 || next == 19) *input.frame.row<std::uint8_t>(0) = kBad;
    ++next;
    return ReadResult::Frame;
  }
  void cancel() override {}
};

struct Bytes final : Sink {
  std::vector<std::string> frames;
  void open(const SinkContext&) override {}
  void write(const FrameInfo& info, const Value& value) override {
    const auto& image = std::get<ImageView>(value);
    std::string all = std::to_string(info.number) + ":";
    for (int plane = 0; plane < image.format.planes(); ++plane)
      for (int y = 0; y < image.format.height; ++y)
        all.append(image.row<char>(y, plane), image.format.row_bytes());
    frames.push_back(std::move(all));
  }
  void finish() override {}
};

}  // namespace contorno::test
