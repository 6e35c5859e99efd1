// The stages of lower levels of quality in graphs, on the CPU and on the device where there is one: what is
// not drawn, and contours of the next mipmap level that lie where those of full quality do. Which frame runs
// at which level is planted.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>

#include "base/error.h"
#include "pipeline/run/runner.h"
#include "stages/catalog.h"
#include "stages/contour_prep/stage.h"
#include "stages/contours/stage.h"
#include "stages/mipmap/chain.h"
#include "stages/overlay/stage.h"
#include "tests/stages/default_params.h"

using namespace contorno;
using namespace contorno::test;

namespace {

constexpr int kMapClasses = 2;

/// Where a disc of frame `number` has its centre, in px.
struct Disc {
  double x, y;
  static constexpr double kRadius = 11.3;
};
Disc disc_of(std::uint64_t number, int plane) {
  return {24.0 + 0.75 * static_cast<double>(number) + 30 * plane, 21.5 - 4.25 * plane};
}

/// Frames of noise with maps of discs that move, whose edges are a slope of 8 px. One more disc is cut by the
/// left border.
class Discs final : public Source {
 public:
  Discs(std::uint64_t frames, int width, int height, ElementType type = ElementType::F32) : frames_(frames) {
    format_.frame = ImageFormat{.width = width, .height = height, .channels = 3};
    format_.maps = ImageFormat{
        .width = width, .height = height, .channels = kMapClasses, .type = type, .layout = Layout::Planar};
  }
  const StreamFormat& format() const override { return format_; }
  ReadResult read(FrameInput& input) override {
    if (next_ == frames_) return ReadResult::End;
    const std::uint64_t number = next_++;
    for (int y = 0; y < format_.frame->height; ++y) {
      for (int i = 0; i < 3 * format_.frame->width; ++i)
        input.frame.row<std::uint8_t>(y)[i] =
            static_cast<std::uint8_t>(31 * i + 17 * y + 7 * static_cast<int>(number));
      for (int plane = 0; plane < kMapClasses; ++plane)
        for (int x = 0; x < format_.maps->width; ++x)
          input.maps.row<float>(y, plane)[x] = value_at(number, plane, x, y);
    }
    return ReadResult::Frame;
  }
  void cancel() override {}

  static float value_at(std::uint64_t number, int plane, int x, int y) {
    const Disc disc = disc_of(number, plane);
    const double inside =
        std::max(Disc::kRadius - std::hypot(x - disc.x, y - disc.y), 9 - std::hypot(x, y - 40.25));
    return static_cast<float>(std::clamp(0.5 + inside / 8, 0.0, 1.0));
  }

 private:
  StreamFormat format_;
  std::uint64_t frames_, next_ = 0;
};

/// A copy of the points of each contour of each frame, and the ids of the contours where they have some.
struct Copies final : Sink {
  struct Contour {
    int class_index = 0;
    bool closed = false;
    std::vector<Point> points;
    double id = 0;
  };
  void open(const SinkContext& context) override { format = std::get<ContoursFormat>(context.format); }
  void write(const FrameInfo& info, const Value& value) override {
    const auto& view = std::get<ContoursView>(value);
    CHECK(view.format.width == format.width);
    CHECK(view.format.height == format.height);
    CHECK(view.format.placement == format.placement);
    std::vector<Contour>& all = frames[info.number];
    for (int k = 0; k < view.format.classes; ++k)
      for (std::uint32_t i = view.class_begin[k]; i < view.class_begin[k + 1]; ++i) {
        const std::span<const Point> points = view.contour(i);
        const double* const ids = view.column(Attribute::Id);
        all.push_back({k, view.closed[i] != 0, {points.begin(), points.end()}, ids != nullptr ? ids[i] : 0});
      }
  }
  void finish() override {}
  ContoursFormat format;
  std::map<std::uint64_t, std::vector<Contour>> frames;
};

struct Pictures final : Sink {
  void open(const SinkContext&) override {}
  void write(const FrameInfo& info, const Value& value) override {
    const auto& image = std::get<ImageView>(value);
    std::vector<std::uint8_t>& bytes = frames[info.number];
    for (int y = 0; y < image.format.height; ++y) {
      const auto* row = image.row<const std::uint8_t>(y);
      bytes.insert(bytes.end(), row, row + image.format.row_bytes());
    }
  }
  void finish() override {}
  std::map<std::uint64_t, std::vector<std::uint8_t>> frames;
};

struct Ran {
  Copies contours;
  Pictures pictures;
  RunReport report;
};

struct Plan {
  Backend backend = Backend::Cpu;
  std::vector<DegradeStep> steps{};
  std::function<int(std::uint64_t)> level_of{};
  int slots = 3, threads = 2;
  int width = 87, height = 63;
  std::uint64_t frames = 12;
  std::int64_t min_points = 0;
  ElementType type = ElementType::F32;
};

GraphSpec disc_graph(const Plan& plan) {
  GraphSpec graph;
  graph.settings.slots = plan.slots;
  graph.settings.threads = plan.threads;
  graph.classes = {{.name = "one"}, {.name = "two"}};
  const auto add = [&](const StageType& type, std::vector<Origin> from) {
    graph.nodes.push_back(
        {.name = type.name, .type = &type, .params = ParamSet(type.params), .inputs = from});
  };
  add(contours_stage(), {{Origin::kSource, Origin::kMaps}});
  graph.nodes.back().params.set("min_points", plan.min_points);
  for (const StageType* step : contour_steps())
    if (step->name == "track") add(*step, {{0, 0}});
  add(overlay_stage(), {{Origin::kSource, Origin::kFrame}, {1, 0}});
  return graph;
}

void run(const Plan& plan, Ran& ran) {
  const GraphSpec graph = disc_graph(plan);
  Discs source(plan.frames, plan.width, plan.height, plan.type);
  RunOptions options{.backend = plan.backend, .level_of = plan.level_of};
  if (!plan.steps.empty())
    options.quality = std::make_shared<const QualityLevels>(quality_levels(graph, plan.steps, lighter_stage));
  Runner runner(graph, source,
                {{.name = "contours", .sink = &ran.contours, .input = {1, 0}},
                 {.name = "pictures", .sink = &ran.pictures, .input = {2, 0}}},
                options);
  ran.report = runner.run();
}

bool same_points(const Copies::Contour& a, const Copies::Contour& b) {
  return a.class_index == b.class_index && a.closed == b.closed && a.points == b.points && a.id == b.id;
}
bool same_frame(const std::vector<Copies::Contour>& a, const std::vector<Copies::Contour>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_points);
}

std::vector<Backend> degraded_backends() {
  if (!device_report().available) std::puts("skipped: levels of quality on CUDA (no device here)");
  return backends();
}

/// Level 1 of the maps of a frame, as the mipmap family makes it, and their contours by a graph of their own.
std::vector<Copies::Contour> contours_of_level(const Plan& plan, std::uint64_t number,
                                               ContoursFormat& format) {
  const ImageFormat maps{.width = plan.width,
                         .height = plan.height,
                         .channels = kMapClasses,
                         .type = ElementType::F32,
                         .layout = Layout::Planar};
  Block memory(packed_bytes(maps), MemoryKind::Host);
  const ImageView view = packed_view(memory.data(), maps);
  for (int plane = 0; plane < kMapClasses; ++plane)
    for (int y = 0; y < plan.height; ++y)
      for (int x = 0; x < plan.width; ++x)
        view.row<float>(y, plane)[x] = Discs::value_at(number, plane, x, y);
  const Mipmaps all = mipmaps(view, {.stop = 1}, 1);

  struct OneMap final : Source {
    explicit OneMap(const ImageView& level) : level_(level) { format_.maps = level.format; }
    const StreamFormat& format() const override { return format_; }
    ReadResult read(FrameInput& input) override {
      if (std::exchange(given_, true)) return ReadResult::End;
      for (int plane = 0; plane < kMapClasses; ++plane)
        for (int y = 0; y < level_.format.height; ++y)
          std::memcpy(input.maps.row<float>(y, plane), level_.row<float>(y, plane),
                      level_.format.row_bytes());
      return ReadResult::Frame;
    }
    void cancel() override {}
    ImageView level_;
    StreamFormat format_;
    bool given_ = false;
  };
  GraphSpec graph = disc_graph(plan);
  graph.nodes.resize(1);
  OneMap source(all.levels[1]);
  Copies copies;
  Runner runner(graph, source, {{.name = "contours", .sink = &copies, .input = {0, 0}}}, {});
  runner.run();
  format = copies.format;
  return copies.frames[0];
}

}  // namespace

TEST_CASE("frames at full quality have the bits of a run without levels, whatever ran before them") {
  const auto level_of = [](std::uint64_t frame) { return static_cast<int>(frame / 2 % 4); };
  for (const Backend backend : degraded_backends()) {
    Ran plain, levels;
    run({.backend = backend}, plain);
    run({.backend = backend,
         .steps = {DegradeStep::Overlay, DegradeStep::Mip, DegradeStep::Thin},
         .level_of = [](std::uint64_t) { return 0; }},
        levels);
    CHECK(plain.pictures.frames == levels.pictures.frames);
    REQUIRE(plain.contours.frames.size() == 12);
    for (const auto& [number, contours] : plain.contours.frames)
      CHECK(same_frame(contours, levels.contours.frames.at(number)));
    // And where the others run in between.
    Ran mixed;
    run({.backend = backend,
         .steps = {DegradeStep::Overlay, DegradeStep::Mip, DegradeStep::Thin},
         .level_of = level_of},
        mixed);
    std::size_t full = 0;
    for (const auto& [number, contours] : mixed.contours.frames) {
      if (level_of(number) != 0) continue;
      ++full;
      CHECK(same_frame(contours, plain.contours.frames.at(number)));
      CHECK(mixed.pictures.frames.at(number) == plain.pictures.frames.at(number));
    }
    CHECK(full == 4);
  }
}

TEST_CASE("without the overlay frames come as the source gave them, with the contours of full quality") {
  for (const Backend backend : degraded_backends()) {
    Ran plain, undrawn;
    run({.backend = backend}, plain);
    run({.backend = backend,
         .steps = {DegradeStep::Overlay},
         .level_of = [](std::uint64_t frame) { return static_cast<int>(frame % 2); }},
        undrawn);
    for (std::uint64_t number = 0; number < 12; ++number) {
      CHECK(same_frame(undrawn.contours.frames.at(number), plain.contours.frames.at(number)));
      const std::vector<std::uint8_t>& picture = undrawn.pictures.frames.at(number);
      CHECK((picture == plain.pictures.frames.at(number)) == (number % 2 == 0));
      std::size_t wrong = 0;
      for (int y = 0; y < 63 && number % 2 == 1; ++y)
        for (int i = 0; i < 3 * 87; ++i)
          wrong += picture[static_cast<std::size_t>(3 * 87 * y + i)] !=
                   static_cast<std::uint8_t>(31 * i + 17 * y + 7 * static_cast<int>(number));
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("contours of the next level are those of the mipmap, put where their samples lie on the maps") {
  for (const auto& [width, height] : {std::pair(88, 64), std::pair(87, 63)}) {
    const Plan plan{.width = width, .height = height};
    for (const Backend backend : degraded_backends()) {
      Plan mip = plan;
      mip.backend = backend, mip.steps = {DegradeStep::Mip}, mip.level_of = [](std::uint64_t) { return 1; };
      Ran ran;
      run(mip, ran);
      CHECK(ran.contours.format.width == width);
      CHECK(ran.contours.format.height == height);
      std::size_t at_border = 0;
      for (std::uint64_t number = 0; number < 12; ++number) {
        ContoursFormat level;
        const std::vector<Copies::Contour> wanted = contours_of_level(plan, number, level);
        const std::vector<Copies::Contour>& found = ran.contours.frames.at(number);
        REQUIRE(found.size() == wanted.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
          CHECK(found[i].class_index == wanted[i].class_index);
          CHECK(found[i].closed == wanted[i].closed);
          REQUIRE(found[i].points.size() == wanted[i].points.size());
          for (std::size_t p = 0; p < found[i].points.size(); ++p) {
            const Point &point = found[i].points[p], &of_level = wanted[i].points[p];
            // Placement says where a sample of the level lies on what it was made of.
            const double x = of_level.col == 0 ? 0 : level.placement.frame_x(of_level.col);
            const double y = level.placement.frame_y(of_level.row);
            at_border += of_level.col == 0 ? 1 : 0;
            CHECK(std::abs(point.col - x) < 1e-4);
            CHECK(std::abs(point.row - y) < 1e-4);
          }
        }
      }
      CHECK(at_border == 2 * 12 * kMapClasses);
    }
  }
}

TEST_CASE(
    "at the next level discs are where they are at full quality, and keep their ids over every change") {
  for (const Backend backend : degraded_backends()) {
    Ran ran;
    run({.backend = backend,
         .steps = {DegradeStep::Mip},
         .level_of = [](std::uint64_t frame) { return static_cast<int>(frame / 3 % 2); }},
        ran);
    REQUIRE(ran.contours.frames.size() == 12);
    for (const auto& [number, contours] : ran.contours.frames) {
      std::size_t discs = 0;
      for (const Copies::Contour& contour : contours) {
        if (!contour.closed) continue;
        const Disc disc = disc_of(number, contour.class_index);
        ++discs;
        for (const Point& point : contour.points)
          CHECK(std::abs(std::hypot(point.col - disc.x, point.row - disc.y) - Disc::kRadius) < 0.25);
        CHECK(contour.id ==
              ran.contours.frames.at(0)[static_cast<std::size_t>(&contour - contours.data())].id);
      }
      CHECK(discs == kMapClasses);
    }
    for (const StageTracks& track : ran.report.tracks)
      for (const TrackCounts& counts : track.classes) CHECK(counts.births == 2);
  }
}

TEST_CASE("a region that has enough points at full quality has enough at the next level") {
  for (const Backend backend : degraded_backends()) {
    Ran plain, mip;
    run({.backend = backend, .frames = 1}, plain);
    std::size_t disc = 0;
    for (const Copies::Contour& contour : plain.contours.frames.at(0))
      if (contour.closed) disc = std::max(disc, contour.points.size());
    run({.backend = backend,
         .steps = {DegradeStep::Mip},
         .level_of = [](std::uint64_t) { return 1; },
         .frames = 1,
         .min_points = static_cast<std::int64_t>(disc) * 3 / 4},
        mip);
    CHECK(mip.contours.frames.at(0).size() == kMapClasses);  // the discs, and not what the border cuts
  }
}

TEST_CASE("maps that have no next level are refused when the run is planned, with the key that wants one") {
  try {
    Ran ran;
    run({.steps = {DegradeStep::Mip}, .type = ElementType::F16}, ran);
    FAIL("not refused");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::BadConfig);
    CHECK(std::string(error.what())
              .starts_with("degrade: node 'contours': mipmap: the image is float16, allowed"));
  }
}
