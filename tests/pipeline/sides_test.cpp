// Sizes at their limit and one beyond it, where memory is sized: sides_test.py has the ways from outside.
#include "pipeline/value/sides.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/error.h"
#include "pipeline/graph/applied.h"
#include "pipeline/graph/direct.h"
#include "pipeline/run/runner.h"
#include "stages/catalog.h"
#include "stages/contours/cpu/level_search.h"
#include "stages/contours/cpu/mark_samples.h"
#include "stages/contours/find_contours.h"
#include "stages/mean_shift/points.h"
#include "stages/morphology/structuring_element.h"
#include "tests/stages/harness.h"

using namespace contorno;

namespace {

ImageFormat sized(int width, int height, int channels = 1, Layout layout = Layout::Interleaved) {
  return {.width = width, .height = height, .channels = channels, .layout = layout};
}

template <class Work>
ExitCode code_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.code();
  }
  return ExitCode::Ok;
}

/// A source whose frame has a size that nobody has looked at, from the beginning or from its second frame on.
class SizedSource final : public Source {
 public:
  SizedSource(const ImageFormat& frame, const ImageFormat& second) : second_(second) {
    format_.frame = frame;
  }
  const StreamFormat& format() const override { return format_; }
  ReadResult read(FrameInput&) override {
    if (read_++ == 0) return ReadResult::Frame;
    if (format_.frame == second_) return read_ < 4 ? ReadResult::Frame : ReadResult::End;
    format_.frame = second_;
    return ReadResult::FormatChanged;
  }
  void cancel() override {}

 private:
  StreamFormat format_;
  ImageFormat second_;
  int read_ = 0;
};

/// What becomes of a run of such a source through a stage.
ExitCode run(const ImageFormat& frame, const ImageFormat& second) {
  GraphSpec graph;
  const StageType* type = nullptr;
  for (const StageType* one : stage_catalog())
    if (one->name == "morphology") type = one;
  graph.nodes.push_back({.name = type->name,
                         .type = type,
                         .params = ParamSet(type->params),
                         .inputs = {{Origin::kSource, Origin::kFrame}}});
  graph.settings.slots = 1;
  return code_of([&] {
    SizedSource source(frame, second);
    Runner runner(graph, source, {}, {.backend = {Backend::Cpu, ""}});
    runner.run();
  });
}

}  // namespace

TEST_CASE("an image has sides and channels of 1 to 65536, and rows and columns whose samples an int counts") {
  for (const auto& [format, code] : std::vector<std::pair<ImageFormat, ExitCode>>{
           {sized(kMaxSide, kMaxSide), ExitCode::Ok},
           {sized(1, 1, kMaxSide), ExitCode::Ok},
           {sized(kMaxSide + 1, 1), ExitCode::BadConfig},
           {sized(1, kMaxSide + 1), ExitCode::BadConfig},
           {sized(1, 1, kMaxSide + 1), ExitCode::BadConfig},
           {sized(0, 1), ExitCode::BadConfig},
           {sized(1, -1), ExitCode::BadConfig},
           {sized(kMaxSide, 1, kMaxSide / 2 - 1), ExitCode::Ok},
           {sized(kMaxSide, 1, kMaxSide / 2), ExitCode::BadConfig},
           {sized(1, kMaxSide, kMaxSide / 2, Layout::Planar), ExitCode::BadConfig}}) {
    CAPTURE(describe(format));
    CHECK(code_of([&f = format] { check_sides(f, "the image"); }) == code);
  }
}

TEST_CASE(
    "a run takes the widest and the highest frames, and refuses larger ones before it has memory for them") {
  const ImageFormat small = sized(8, 2), huge = sized(2'000'000'000, 2'000'000'000);
  for (const ImageFormat& most : {sized(kMaxSide, 2), sized(2, kMaxSide)}) {
    CHECK(run(most, most) == ExitCode::Ok);
    CHECK(run(small, most) == ExitCode::Ok);
  }
  for (const ImageFormat& larger : {sized(kMaxSide + 1, 2), sized(2, kMaxSide + 1), huge, sized(-5, 2)}) {
    CAPTURE(describe(larger));
    CHECK(run(larger, larger) == ExitCode::BadConfig);
    CHECK(run(small, larger) == ExitCode::BadConfig);
  }
}

TEST_CASE("both ways to apply a stage to images check their sides, whatever the stage") {
  for (const StageType* type : stage_catalog()) {
    const auto is_image = [](const PortSpec& port) { return port.type == PortType::Image; };
    if (type->classes == ClassUse::Needed || !type->make_cpu || type->inputs.empty() ||
        !std::all_of(type->inputs.begin(), type->inputs.end(), is_image) ||
        !std::all_of(type->outputs.begin(), type->outputs.end(), is_image))
      continue;
    CAPTURE(type->name);
    for (const ImageFormat& larger : {sized(kMaxSide + 1, 2, 4), sized(2, kMaxSide + 1, 4)}) {
      const std::vector<Format> formats(type->inputs.size(), larger);
      AppliedStage applied(*type, ParamSet(type->params), Backend::Cpu, 1);
      CHECK(code_of([&] { applied.plan(formats); }) == ExitCode::BadConfig);
      DirectStage direct(*type, ParamSet(type->params), Backend::Cpu, 1);
      CHECK(code_of([&] { direct.plan(formats, nullptr); }) == ExitCode::BadConfig);
    }
  }
}

TEST_CASE("what finds contours has room for the widest and the highest map, and takes no larger one") {
  const std::array<double, 1> levels{0.5};
  const auto mark = [&](const ImageFormat& map) { SampleMarker(map, levels, {255}); };
  const auto search = [&](const ImageFormat& map) {
    LevelSearch(map, {{.channel = 0, .level = 0.25}, {.channel = 0, .level = 0.5}}, AssemblyOptions{});
  };
  for (const ImageFormat& most : {sized(kMaxSide, 2), sized(2, kMaxSide)}) {
    CHECK(code_of([&] { mark(most); }) == ExitCode::Ok);
    CHECK(code_of([&] { search(most); }) == ExitCode::Ok);
    // The upper or left half is high: one contour, across the image.
    test::TestImage image(most, 0, 0);
    for (int y = 0; y < most.height; ++y)
      for (int x = 0; x < most.width; ++x)
        image.view.row<std::uint8_t>(y)[x] = most.width == 2 ? x == 0 : y == 0;
    const FoundContours found = find_contours(image.view, {.level = 0.5});
    REQUIRE(found.count() == 1);
    CHECK(found.contour(0).size() == static_cast<std::size_t>(kMaxSide));
  }
  for (const ImageFormat& larger : {sized(kMaxSide + 1, 2), sized(2, kMaxSide + 1)}) {
    CHECK(code_of([&] { mark(larger); }) == ExitCode::BadConfig);
    CHECK(code_of([&] { search(larger); }) == ExitCode::BadConfig);
    test::TestImage image(larger, 0, 0);
    CHECK(code_of([&] { find_contours(image.view, {.level = 0.5}); }) == ExitCode::BadData);
  }
}

TEST_CASE("other arrays that a constant sizes are not asked for more than they have") {
  const auto mark = [](const ImageFormat& map) {
    SampleMarker(map, std::vector<double>(static_cast<std::size_t>(map.channels), 0.5), {255});
  };
  constexpr int kChannels = SampleMarker::kMaxInterleaved;
  CHECK(code_of([&] { mark(sized(70, 2, kChannels)); }) == ExitCode::Ok);
  CHECK(code_of([&] { mark(sized(70, 2, kChannels + 1)); }) == ExitCode::BadConfig);
  CHECK(code_of([&] { mark(sized(70, 2, kChannels + 1, Layout::Planar)); }) == ExitCode::Ok);

  constexpr int kElement = StructuringElement::kMaxSide;
  CHECK(code_of([] { StructuringElement::rectangle(kElement, kElement); }) == ExitCode::Ok);
  CHECK(code_of([] { StructuringElement::rectangle(kElement + 1, 1); }) == ExitCode::BadConfig);

  const auto fit = [](int dims) {
    const std::vector<double> points(static_cast<std::size_t>(3 * dims), 1.0);
    MeanShift({}, {.backend = Backend::Cpu, .threads = 1}).fit(points, dims);
  };
  CHECK(code_of([&] { fit(MeanShift::kMaxDims); }) == ExitCode::Ok);
  CHECK(code_of([&] { fit(MeanShift::kMaxDims + 1); }) == ExitCode::BadData);
}
