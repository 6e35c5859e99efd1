// Levels of quality: what becomes of a graph, and of frames that run through several of them. Which frame
// runs at which level is planted.
#include "pipeline/graph/quality.h"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/run/runner.h"
#include "tests/pipeline/fakes.h"

using namespace contorno;

namespace {

/// Gives the number of the frame and a thousand: a stage that can be told from `copy`.
class ThousandStage final : public Stage {
 public:
  void plan(PlanContext& context) override { copy_.plan(context); }
  void run(const RunContext& context) const override {
    copy_.run(context);
    *context.image_out(0).row<std::uint32_t>(0) += 1000;
  }
  std::uint64_t overflow(const RunContext& context) const override { return copy_.overflow(context); }

 private:
  fake::CopyStage copy_;
};

const StageType& thousand_stage() {
  static const StageType type = [] {
    StageType thousand = fake::copy_stage();
    thousand.make_cpu = [](const ParamSet&) { return std::make_unique<ThousandStage>(); };
    return thousand;
  }();
  return type;
}

/// A sum of thousands in place of a sum: the same state.
const StageType* lighter(DegradeStep step, const StageType& type) {
  if (step == DegradeStep::Mip && &type == &fake::copy_stage()) return &thousand_stage();
  if (step == DegradeStep::Overlay && &type == &fake::sum_stage()) return &fake::sum_of_thousands_stage();
  return nullptr;
}

std::shared_ptr<const QualityLevels> levels_of(const GraphSpec& graph,
                                               const std::vector<DegradeStep>& steps) {
  return std::make_shared<const QualityLevels>(quality_levels(graph, steps, lighter));
}

/// source -> sum -> copy.
GraphSpec summing_graph() {
  GraphSpec graph = fake::copy_graph();
  graph.nodes[0].type = &fake::sum_stage();
  return graph;
}

/// Also what it is told of levels, and of frames that do not come.
class LevelSink final : public Sink {
 public:
  void open(const SinkContext&) override {}
  void note_timing(const FrameTiming& timing) override { level = timing.level; }
  void write(const FrameInfo& info, const Value& value) override {
    frames.push_back(info.number);
    levels.push_back(level);
    payloads.push_back(*std::get<ImageView>(value).row<std::uint32_t>(0));
  }
  void write_missing(const MissingFrames& missing) override {
    for (std::uint64_t frame = missing.first; frame <= missing.last; ++frame)
      if (missing.reason == MissingFrames::Reason::Thinned) thinned.push_back(frame);
  }
  void write_camera(const CameraNews& news) override {
    told.emplace_back(frames.size(), news.level);
    ++told_so_far;
  }
  void finish() override {}
  void wait_until_told() const {
    for (int i = 0; i < 20'000 && told_so_far == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  int level = 0;
  std::vector<std::uint64_t> frames, thinned;
  std::vector<int> levels;
  std::vector<std::uint32_t> payloads;
  std::vector<std::pair<std::size_t, int>> told;  // behind so many frames
  std::atomic<int> told_so_far = 0;
};

RunReport run(const GraphSpec& graph, fake::CountingSource& source, LevelSink& sink,
              const RunOptions& options) {
  Runner runner(graph, source, {{.name = "levels", .sink = &sink, .input = {1, 0}}}, options);
  return runner.run();
}

}  // namespace

TEST_CASE("each level has the steps up to its own, and the graph is what it was") {
  const GraphSpec graph = summing_graph();
  const QualityLevels made =
      quality_levels(graph, {DegradeStep::Mip, DegradeStep::Thin, DegradeStep::Overlay}, lighter);
  REQUIRE(made.levels.size() == 3);
  CHECK(made.levels[0].graph == 1);
  CHECK(made.levels[1].graph == 1);
  CHECK(made.levels[2].graph == 2);
  CHECK_FALSE(made.levels[0].thins);
  CHECK(made.levels[1].thins);
  CHECK(made.levels[2].thins);
  REQUIRE(made.graphs.size() == 2);
  CHECK(made.graphs[0].nodes[0].type == &fake::sum_stage());
  CHECK(made.graphs[0].nodes[1].type == &thousand_stage());
  CHECK(made.graphs[1].nodes[0].type == &fake::sum_of_thousands_stage());
  CHECK(made.graphs[1].nodes[1].type == &thousand_stage());
  CHECK(graph.nodes[0].type == &fake::sum_stage());
  CHECK(made.graphs[1].nodes[1].name == "two");
  // Every second frame alone is the graph itself.
  const QualityLevels thin = quality_levels(graph, {DegradeStep::Thin}, lighter);
  CHECK(thin.graphs.empty());
  REQUIRE(thin.levels.size() == 1);
  CHECK(thin.levels[0].graph == 0);
}

TEST_CASE("a step that changes nothing is refused with what is missing") {
  for (const auto& [step, sentence] :
       {std::pair(DegradeStep::Overlay,
                  "degrade has 'overlay', but no stage of the graph draws on its frame (overlay)"),
        std::pair(DegradeStep::Mip,
                  "degrade has 'mip', but no stage of the graph finds contours in maps (contours)")}) {
    const GraphSpec graph = step == DegradeStep::Mip ? GraphSpec{} : fake::copy_graph();
    try {
      quality_levels(graph, {step}, lighter);
      FAIL("not refused");
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::BadConfig);
      CHECK(std::string(error.what()) == sentence);
    }
  }
}

TEST_CASE("frames run at the level that they are given, with one input and one state") {
  for (const int slots : {1, 2, 3, 5}) {
    GraphSpec graph = summing_graph();
    graph.settings.slots = slots;
    fake::CountingSource source(60);
    LevelSink sink;
    const auto level_of = [](std::uint64_t frame) { return static_cast<int>(frame / 10 % 3); };
    const RunReport report =
        run(graph, source, sink,
            {.quality = levels_of(graph, {DegradeStep::Overlay, DegradeStep::Mip}), .level_of = level_of});
    REQUIRE(sink.frames.size() == 60);
    std::uint32_t sum = 0;
    for (std::uint32_t frame = 0; frame < 60; ++frame) {
      const int level = level_of(frame);
      sum += level == 0 ? frame : 1000 * frame;
      CHECK(sink.payloads[frame] == (level == 2 ? 1000 + sum : sum));
      CHECK(sink.levels[frame] == level);
    }
    // Told before the first frame of the level.
    CHECK(sink.told ==
          std::vector<std::pair<std::size_t, int>>{{10, 1}, {20, 2}, {30, 0}, {40, 1}, {50, 2}, {60, 0}});
    REQUIRE(report.levels.size() == 3);
    CHECK(report.levels[0].name == "full");
    CHECK(report.levels[1].name == "overlay");
    CHECK(report.levels[2].name == "mip");
    for (const LevelCount& level : report.levels) CHECK(level.frames == 20);
  }
}

TEST_CASE("a frame that fails at a level or needs more room leaves the state as it would at another") {
  for (const int slots : {1, 3}) {
    GraphSpec graph = summing_graph();
    graph.settings.slots = slots;
    std::vector<std::vector<std::uint32_t>> payloads;
    for (const bool regrows : {false, true}) {
      fake::behaviour.capacity_needed = regrows ? 50 : 0;
      fake::behaviour.on_run = [](std::uint32_t number) {
        if (number == 7 || number == 12) throw Error(ExitCode::BadData, "planted");
      };
      fake::CountingSource source(20);
      LevelSink sink;
      const RunReport report =
          run(graph, source, sink,
              {.quality = levels_of(graph, {DegradeStep::Overlay}),
               .level_of = [](std::uint64_t frame) { return static_cast<int>(frame / 5 % 2); }});
      CHECK(report.frames.failed == 2);
      // The graph at full quality, and the other one, each once at least.
      if (regrows) CHECK(report.frames.regrown >= 2);
      payloads.push_back(sink.payloads);
    }
    fake::behaviour = {};
    CHECK(payloads[0].size() == 18);
    CHECK(payloads[0] == payloads[1]);
  }
}

TEST_CASE("a level that thins leaves every second frame out, and says so") {
  GraphSpec graph = summing_graph();
  fake::CountingSource source(40);
  source.bad = [](std::uint64_t number) { return number == 13; };
  LevelSink sink;
  std::vector<std::uint64_t> dropped;
  const RunReport report =
      run(graph, source, sink,
          {.on_drop =
               [&](std::uint64_t frame, DropReason reason) {
                 CHECK(reason == DropReason::Thinned);
                 dropped.push_back(frame);
               },
           .quality = levels_of(graph, {DegradeStep::Thin}),
           .level_of = [](std::uint64_t frame) { return frame >= 10 && frame < 30 ? 1 : 0; }});
  // The first of the level is worked on; one that failed is none of them.
  const std::vector<std::uint64_t> wanted{11, 14, 16, 18, 20, 22, 24, 26, 28};
  CHECK(sink.thinned == wanted);
  CHECK(dropped == wanted);
  CHECK(report.frames.dropped_thinned == wanted.size());
  CHECK(report.frames.dropped() == wanted.size());
  CHECK(report.frames.failed == 1);
  CHECK(report.frames.delivered == 40 - wanted.size() - 1);
  CHECK(report.held() == false);
  // The state passes over what was left out.
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < sink.frames.size(); ++i)
    CHECK(sink.payloads[i] == (sum += static_cast<std::uint32_t>(sink.frames[i])));
}

TEST_CASE("levels are planned again with the format, and their memory is foretold") {
  GraphSpec graph = summing_graph();
  graph.settings.slots = 2;
  fake::CountingSource source(20);
  source.change_at = 7;
  const auto quality = levels_of(graph, {DegradeStep::Overlay, DegradeStep::Mip, DegradeStep::Thin});
  const RunOptions options{.quality = quality,
                           .level_of = [](std::uint64_t frame) { return static_cast<int>(frame % 3); }};
  LevelSink sink;
  const SinkBinding binding{.name = "levels", .sink = &sink, .input = {1, 0}};
  const Runner::Memory with = Runner::foretell_memory(graph, source.format(), {binding}, options);
  const Runner::Memory without = Runner::foretell_memory(graph, source.format(), {binding}, {});
  Runner runner(graph, source, {binding}, options);
  CHECK(runner.slot_memory().total() == with.slot.total());
  // Two more graphs, of which none has what the source writes.
  CHECK(with.slot.host == 3 * without.slot.host);
  CHECK(with.slot.pinned == without.slot.pinned);
  const RunReport report = runner.run();
  CHECK(report.frames.delivered == 20);
  CHECK(sink.frames.size() == 20);
}

TEST_CASE(
    "a live source that cannot be followed goes to a lower level by its drops, a recording never does") {
  for (const bool live : {false, true}) {
    GraphSpec graph = summing_graph();
    graph.settings.slots = 2;
    graph.settings.on_full = OnFull::DropNewest;
    fake::CountingSource source(80, live);
    fake::Settled settled;
    LevelSink sink;
    // Frame 3 is at work until frames have been dropped, and the last one comes when nobody is at work.
    fake::behaviour.on_run = [&](std::uint32_t number) {
      if (number == 3) source.wait_until_given(50);
    };
    source.warns = [&](std::uint64_t number) {
      if (number == 60 && live) sink.wait_until_told();
      if (number == 79) CHECK(settled.wait_until(79));
      return false;
    };
    RunOptions options = settled.options();
    options.quality = levels_of(graph, {DegradeStep::Overlay, DegradeStep::Mip});
    const RunReport report = run(graph, source, sink, options);
    fake::behaviour = {};
    CHECK(report.frames.dropped_ring_full > 0);
    CHECK(sink.told.empty() == !live);
    CHECK((sink.levels.back() > 0) == live);
    CHECK((report.levels[0].frames == report.frames.delivered) == !live);
  }
}
