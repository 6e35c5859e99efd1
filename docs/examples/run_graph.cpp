// A graph in YAML over frames that this program brings, with results that it takes.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>

#include <contorno/config/load.h>
#include <contorno/pipeline/run/runner.h>
#include <contorno/stages/catalog.h>

namespace {

const char* const kGraph = R"(
source: {type: my_camera, frames: 3}
classes:
  - {name: ball, references: ["#d02020"]}
  - {name: background, references: ["#606060"], hidden: true}
stages: [classify, marching_squares, contour_assembly]
sinks: [my_sink]
)";

struct CameraParams {
  std::int64_t frames = 10;
};

/// A red ball that rolls to the right. `read` writes into the memory of a slot.
class Camera final : public contorno::Source {
 public:
  explicit Camera(const CameraParams& params) : frames_(params.frames) {
    format_.frame = {.width = 160, .height = 100, .channels = 3};  // uint8, interleaved
    format_.description = "a ball";
  }
  const contorno::StreamFormat& format() const override { return format_; }
  contorno::ReadResult read(contorno::FrameInput& input) override {
    if (next_ == frames_) return contorno::ReadResult::End;
    for (int y = 0; y < format_.frame->height; ++y) {
      auto* row = input.frame.row<std::uint8_t>(y);
      for (int x = 0; x < format_.frame->width; ++x) {
        const bool inside = std::hypot(x - 40 - 10 * static_cast<double>(next_), y - 50.0) < 25;
        row[3 * x] = inside ? 0xd0 : 0x60;
        row[3 * x + 1] = row[3 * x + 2] = inside ? 0x20 : 0x60;
      }
    }
    input.info.pts_ns = next_++ * 100'000'000;
    return contorno::ReadResult::Frame;
  }
  void cancel() override {}  // nothing in `read` waits

 private:
  contorno::StreamFormat format_;
  std::int64_t frames_, next_ = 0;
};

/// Says where the first contour of every frame begins. Called frame by frame, in order.
class Printer final : public contorno::Sink {
 public:
  void open(const contorno::SinkContext&) override {}
  void write(const contorno::FrameInfo& info, const contorno::Value& value) override {
    const auto& contours = std::get<contorno::ContoursView>(value);
    const auto first = contours.contour(0);
    std::printf("frame %d: %d contours, the first of %zu points from row %.2f, column %.2f\n",
                static_cast<int>(info.number), static_cast<int>(contours.counts->contours), first.size(),
                static_cast<double>(first.front().row), static_cast<double>(first.front().col));
  }
  void finish() override {}
};

/// What the graph may be made of: the stages of contorno, the source and the sink of this program.
const contorno::Catalog& catalog() {
  static const contorno::SourceType camera{
      .name = "my_camera",
      .summary = "A red ball that rolls to the right.",
      .params = contorno::declare(contorno::ParamList<CameraParams>().integer(
          "frames", &CameraParams::frames, 1, 1000, contorno::Unit::Frames, "How many frames come.")),
      .make = [](const contorno::ParamSet& params) {
        return std::make_unique<Camera>(params.as<CameraParams>());
      }};
  struct None {};
  static const contorno::SinkType printer{
      .name = "my_sink",
      .summary = "Prints where contours begin.",
      .input = contorno::PortType::Contours,
      .params = contorno::declare(contorno::ParamList<None>()),
      .make = [](const contorno::ParamSet&) { return std::make_unique<Printer>(); }};
  static const contorno::Catalog all{
      .stages = contorno::stage_catalog(), .sources = {&camera}, .sinks = {&printer}};
  return all;
}

void run() {
  contorno::GraphSpec graph = contorno::config::load_graph_text(kGraph, "the graph", catalog());
  const auto [source, notice] = contorno::config::open_source(graph);
  const contorno::SinkSpec& spec = graph.sinks.front();
  const std::unique_ptr<contorno::Sink> sink = spec.type->make(spec.params);
  contorno::Runner runner(graph, *source, {contorno::bind_sink(spec, *sink)},
                          {.backend = contorno::choose_backend(graph.settings.backend, graph)});
  const contorno::RunReport report = runner.run();
  std::printf("%d frames in, %d out\n", static_cast<int>(report.frames.offered),
              static_cast<int>(report.frames.delivered));
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& error) {  // of a graph: every mistake in it, with line and caret
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
