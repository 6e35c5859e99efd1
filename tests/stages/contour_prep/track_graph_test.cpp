// track in a graph: frames under way overlap, some fail, are missing, or are run again with more room, and
// what comes out is what all pairs say of the frames that came out, one after the other; on the CPU, and on
// the device where there is one.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "pipeline/run/runner.h"
#include "stages/contour_prep/track/stage.h"
#include "tests/stages/contour_prep/carried_contours.h"
#include "tests/stages/default_params.h"

using namespace contorno;
using namespace contorno::test;
using namespace std::chrono_literals;

namespace {

/// Compares what comes out with all pairs.
struct Compare final : Sink {
  const Scene& scene;
  ReferenceTracker reference;
  std::chrono::microseconds pause{0};
  std::size_t frames = 0, wrong = 0;
  std::vector<std::vector<double>> ids;

  explicit Compare(const Scene& frames, const TrackParams& params = {})
      : scene(frames), reference(kTrackedClasses, params) {}
  void open(const SinkContext&) override {}
  void write(const FrameInfo& info, const Value& value) override {
    std::this_thread::sleep_for(pause);
    const auto& contours = std::get<ContoursView>(value);
    const auto rows = reference.update(info.number, scene.frames[info.number]);
    ++frames;
    ids.emplace_back();
    bool same = contours.counts->contours == rows.size();
    for (std::uint32_t i = 0; i < contours.counts->contours; ++i) {
      ids.back().push_back(contours.column(Attribute::Id)[i]);
      same = same && rows[i].is(ids.back().back(), contours.column(Attribute::Age)[i]);
    }
    wrong += same ? 0 : 1;
  }
  void finish() override {}
};

struct Setting {
  Backend backend = Backend::Cpu;
  int slots = 1, threads = 1;
  bool twice = false;  ///< a second track behind the first one
  OnFull on_full = OnFull::Wait;
  int max_missed = TrackParams{}.max_missed;
  /// The node whose result is looked at.
  int compared() const { return twice ? 2 : 1; }
};

/// unpack, track, perhaps another one, and one stage behind them.
GraphSpec tracking_graph(const Setting& setting) {
  GraphSpec graph;
  graph.settings.slots = setting.slots;
  graph.settings.threads = setting.threads;
  graph.settings.on_full = setting.on_full;
  graph.classes = {{.name = "one"}, {.name = "two"}, {.name = "three"}};
  const auto add = [&](const StageType& type, Origin from) {
    graph.nodes.push_back(
        {.name = type.name, .type = &type, .params = ParamSet(type.params), .inputs = {from}});
  };
  add(unpack_stage(), {Origin::kSource, Origin::kFrame});
  add(track_stage(), {0, 0});
  graph.nodes.back().params.set("max_missed", std::int64_t{setting.max_missed});
  if (setting.twice) add(track_stage(), {1, 0});
  add(track_stage(), {setting.compared(), 0});
  return graph;
}

RunReport run(const Setting& setting, Carrier& source, Compare& sink) {
  const GraphSpec graph = tracking_graph(setting);
  Runner runner(graph, source, {{.name = "compare", .sink = &sink, .input = {setting.compared(), 0}}},
                {.backend = setting.backend});
  return runner.run();
}

std::vector<Backend> tracking_backends() {
  if (!device_report().available) std::puts("skipped: track in a graph on CUDA (no device here)");
  return backends();
}

}  // namespace

TEST_CASE("track in a graph gives what all pairs say, whatever fails or is run again, for any slots") {
  events = {.fail = {17, 18, 25, 58}, .need = {{5, 500}, {20, 600}, {21, 700}, {39, 900}, {40, 1200}}};
  const Scene scene = moving_scene(17, kTrackedClasses, 60, 60);
  for (const Backend backend : tracking_backends())
    for (const int slots : {1, 2, 3, 4, 8})
      for (const int threads : {1, 2})
        for (const bool twice : {false, true}) {
          INFO("backend ", std::string(name_of(backend)), ", slots ", slots, ", threads ", threads,
               ", twice ", twice);
          Carrier source(scene);
          Compare sink(scene);
          const RunReport report = run({backend, slots, threads, twice}, source, sink);
          CHECK(report.frames.failed == 9);
          CHECK(report.frames.regrown >= 5);
          CHECK(sink.frames == 51);
          CHECK(sink.wrong == 0);
          REQUIRE(report.tracks.size() == (twice ? 3 : 2));
          for (const auto& track : report.tracks) CHECK(track.classes == sink.reference.counts);
        }
}

TEST_CASE("track in a graph passes over frames that were dropped before their work began") {
  events = {.fail = {17}, .need = {{5, 300}, {40, 1200}}};
  const Scene scene = moving_scene(18, kTrackedClasses, 60, 90);
  for (const Backend backend : tracking_backends()) {
    Carrier source(scene);
    Compare sink(scene);
    source.pause = 300us, sink.pause = 1500us;
    const RunReport report =
        run({.backend = backend, .slots = 3, .on_full = OnFull::DropNewest}, source, sink);
    CHECK(report.frames.dropped_ring_full > 5);
    CHECK(sink.frames == report.frames.delivered);
    CHECK(sink.wrong == 0);
  }
}

TEST_CASE("track in a graph keeps ids when frames are dropped that were already at work") {
  events = {.fail = {17}, .need = {{5, 300}, {30, 400}, {31, 500}, {40, 1200}}};
  // Everything is there in every frame, so that it does not matter which frames are missing, if only no
  // object dies meanwhile.
  Scene scene;
  for (std::uint64_t frame = 0; frame < 90; ++frame) {
    std::vector<TestContour> contours;
    for (int i = 0; i < 30; ++i) {
      const double x = 50 + 12 * (i % 10) + static_cast<double>(frame) / 8, y = 50 + 12 * (i / 10);
      contours.push_back({i / 10, true, {{x, y}, {x + 9, y}, {x + 9, y + 9}, {x, y + 9}, {x, y}}});
    }
    scene.frames.push_back(contours);
    scene.numbers.push_back(frame);
  }
  std::vector<double> wanted(30);
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = static_cast<double>(i + 1);
  for (const Backend backend : tracking_backends())
    for (const int slots : {2, 3, 5}) {
      INFO("backend ", std::string(name_of(backend)), ", slots ", slots);
      Carrier source(scene);
      Compare sink(scene);
      source.pause = 300us, sink.pause = 1500us;
      const RunReport report =
          run({.backend = backend, .slots = slots, .on_full = OnFull::DropOldest, .max_missed = 1000}, source,
              sink);
      CHECK(report.frames.dropped_ring_full > 5);
      for (const std::vector<double>& ids : sink.ids) CHECK(ids == wanted);
      CHECK(report.tracks[0].classes == std::vector<TrackCounts>(3, {.births = 10}));
    }
}

TEST_CASE("two nodes of track in one graph have objects of their own, each by its parameters") {
  events = {};
  const Scene scene = moving_scene(19, kTrackedClasses, 60, 60);
  for (const Backend backend : tracking_backends())
    for (const int slots : {1, 3}) {
      INFO("backend ", std::string(name_of(backend)), ", slots ", slots);
      Carrier source(scene);
      TrackParams patient, forgetful;
      forgetful.max_missed = 0;
      Compare with_patience(scene, patient), without(scene, forgetful);
      GraphSpec graph = tracking_graph({.backend = backend, .slots = slots});
      graph.nodes.back().inputs = {{0, 0}};
      graph.nodes.back().params.set("max_missed", std::int64_t{0});
      Runner runner(graph, source,
                    {{.name = "patient", .sink = &with_patience, .input = {1, 0}},
                     {.name = "forgetful", .sink = &without, .input = {2, 0}}},
                    {.backend = backend});
      const RunReport report = runner.run();
      CHECK(with_patience.frames == without.frames);
      CHECK(with_patience.wrong == 0);
      CHECK(without.wrong == 0);
      CHECK(with_patience.ids != without.ids);
      REQUIRE(report.tracks.size() == 2);
      CHECK(report.tracks[0].classes == with_patience.reference.counts);
      CHECK(report.tracks[1].classes == without.reference.counts);
    }
}
