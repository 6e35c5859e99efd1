// track on the CPU, and on the device where there is one (the harness compares, the state too), against all
// pairs of objects and contours.
#include "stages/contour_prep/track/stage.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/stages/contour_prep/track_reference.h"

using namespace contorno;
using namespace contorno::test;

namespace {

Settings settings_of(const TrackParams& params) {
  return {{"min_overlap", params.min_overlap},
          {"max_distance", params.max_distance},
          {"max_missed", std::int64_t{params.max_missed}},
          {"max_objects", std::int64_t{params.max_objects}},
          {"positive_orientation",
           std::string(params.positive_orientation == Orientation::Low ? "low" : "high")}};
}

void check_frame(const StageHarness& stage, const std::vector<ReferenceTracker::Row>& wanted) {
  const auto& made = std::get<ContoursView>(stage.value());
  REQUIRE(made.counts->contours == wanted.size());
  for (std::uint32_t i = 0; i < wanted.size(); ++i) {
    INFO("contour ", i);
    INFO("id ", made.column(Attribute::Id)[i], ", wanted ", wanted[i].id);
    CHECK(wanted[i].is(made.column(Attribute::Id)[i], made.column(Attribute::Age)[i]));
  }
}

/// One frame of `stage`, as every other one.
void run_frame(StageHarness& stage, std::uint64_t number, const std::vector<TestContour>& contours,
               int classes) {
  const TestContours in(512, 512, classes, contours);
  stage.next_frame(number).run({in.view});
}

std::vector<double> ids_of(const StageHarness& stage) {
  const auto& made = std::get<ContoursView>(stage.value());
  return {made.column(Attribute::Id), made.column(Attribute::Id) + made.counts->contours};
}

TestContour box(int of_class, double x, double y, double width, double height) {
  return {of_class, true, {{x, y}, {x + width, y}, {x + width, y + height}, {x, y + height}, {x, y}}};
}

}  // namespace

TEST_CASE("track gives the ids and counts of all pairs taken from the best to the worst") {
  const std::vector<TrackParams> all{{},
                                     {.min_overlap = 0, .max_distance = 0, .max_missed = 0},
                                     {.min_overlap = 1, .max_distance = 60, .max_missed = 2},
                                     {.min_overlap = 0.05, .max_distance = 1e9, .max_missed = 1000},
                                     {.max_missed = 3, .max_objects = 25}};
  for (std::size_t k = 0; k < all.size(); ++k)
    for (const int threads : {1, 3}) {
      INFO("parameters ", k, ", threads ", threads);
      const Scene scene = moving_scene(91 + k, 3, 60, 60);
      ReferenceTracker reference(3, all[k]);
      StageHarness stage(track_stage(), settings_of(all[k]));
      stage.threads(threads);
      for (std::size_t i = 0; i < scene.frames.size(); ++i) {
        INFO("frame ", i);
        run_frame(stage, scene.numbers[i], scene.frames[i], 3);
        check_frame(stage, reference.update(scene.numbers[i], scene.frames[i]));
        const auto counts = stage.track_counts();
        CHECK(std::vector<TrackCounts>(counts.begin(), counts.end()) == reference.counts);
      }
      // Whoever was born is alive, dead or forgotten.
      std::uint64_t accounts = reference.alive(), gone = 0;
      for (const TrackCounts& one : reference.counts) {
        accounts += one.deaths + one.forgotten - one.births;
        gone += one.deaths + one.forgotten;
        CHECK(one.births > 20);
      }
      CHECK(gone > 20);
      CHECK(accounts == 0);
    }
}

TEST_CASE("track: of equal boxes that with the lower id and then the contour that comes first are taken") {
  StageHarness stage(track_stage(), {});
  run_frame(stage, 0, {box(0, 10, 10, 8, 8), box(0, 10, 10, 8, 8)}, 1);
  CHECK(ids_of(stage) == std::vector<double>{1, 2});
  run_frame(stage, 1, {box(0, 11, 10, 8, 8)}, 1);
  CHECK(ids_of(stage) == std::vector<double>{1});
  run_frame(stage, 2, {box(0, 11, 10, 8, 8), box(0, 11, 10, 8, 8), box(0, 11, 10, 8, 8)}, 1);
  CHECK(ids_of(stage) == std::vector<double>{1, 2, 3});
}

TEST_CASE("track: an id is kept for max_missed frames, dropped ones among them, and not for one more") {
  for (const auto& [next, id] : {std::pair{4, 1.0}, {5, 1.0}, {6, 2.0}}) {
    StageHarness stage(track_stage(), {{"max_missed", std::int64_t{4}}});
    run_frame(stage, 0, {box(0, 10, 10, 8, 8)}, 1);
    run_frame(stage, 2, {}, 1);
    run_frame(stage, static_cast<std::uint64_t>(next), {box(0, 10, 10, 8, 8)}, 1);
    CHECK(ids_of(stage) == std::vector<double>{id});
  }
}

TEST_CASE("track: classes have objects of their own, and share the count of ids") {
  StageHarness stage(track_stage(), {});
  run_frame(stage, 0, {box(0, 10, 10, 8, 8), box(1, 10, 10, 8, 8)}, 2);
  run_frame(stage, 1, {box(1, 10, 10, 8, 8)}, 2);
  CHECK(ids_of(stage) == std::vector<double>{2});
}

TEST_CASE("track: a hole shows no object, and no object becomes one") {
  const auto hole = [](double x, double y, double width, double height) {
    TestContour one = box(0, x, y, width, height);
    std::reverse(one.points.begin(), one.points.end());
    return one;
  };
  StageHarness stage(track_stage(), {});
  run_frame(stage, 0, {box(0, 10, 10, 20, 20), hole(14, 14, 12, 12), box(0, 60, 10, 9, 9)}, 1);
  std::vector<double> ids = ids_of(stage);
  CHECK(ids[0] == 1);
  CHECK(std::isnan(ids[1]));
  CHECK(ids[2] == 2);
  CHECK(std::isnan(std::get<ContoursView>(stage.value()).column(Attribute::Age)[1]));
  CHECK(stage.track_counts()[0].births == 2);
  // Where object 2 was there is a hole now, with the same box; object 1 is where its own hole was.
  run_frame(stage, 1, {box(0, 14, 14, 12, 12), hole(60, 10, 9, 9)}, 1);
  ids = ids_of(stage);
  CHECK(ids[0] == 1);
  CHECK(std::isnan(ids[1]));
  CHECK(stage.track_counts()[0].births == 2);
  // An open contour is none, whichever way it runs.
  run_frame(stage, 2, {{0, false, {{14, 14}, {14, 26}, {26, 26}, {26, 14}}}}, 1);
  CHECK(ids_of(stage) == std::vector<double>{1});
}

TEST_CASE("track: contours that run the other way round are told apart by positive_orientation") {
  StageHarness stage(track_stage(), {{"positive_orientation", std::string("high")}});
  TestContour object = box(0, 10, 10, 20, 20);
  std::reverse(object.points.begin(), object.points.end());
  run_frame(stage, 0, {object, box(0, 14, 14, 12, 12)}, 1);
  const std::vector<double> ids = ids_of(stage);
  CHECK(ids[0] == 1);
  CHECK(std::isnan(ids[1]));
}

TEST_CASE("track: a frame run again from the same state gives the same, and changes nothing") {
  const Scene scene = moving_scene(5, 2, 30, 8);
  StageHarness stage(track_stage(), {});
  for (std::size_t i = 0; i < scene.frames.size(); ++i) {
    const TestContours in(512, 512, 2, scene.frames[i]);
    stage.next_frame(scene.numbers[i]).run({in.view});
    const auto ids = ids_of(stage);
    const auto left = stage.states().after;
    stage.rerun();
    const auto again = ids_of(stage);
    for (std::size_t k = 0; k < ids.size(); ++k) CHECK(ReferenceTracker::Row{ids[k], 0}.is(again[k], 0));
    CHECK(stage.states().after == left);
  }
}

TEST_CASE("track follows thousands of objects, also where all of them want the same one") {
  std::vector<TestContour> first, second;
  for (int i = 0; i < 3000; ++i) {
    first.push_back(box(0, 8 * (i % 60), 10 * (i / 60), 6, 6));
    second.push_back(box(0, 8 * (i % 60) + 1, 10 * (i / 60) + 1, 6, 6));
  }
  StageHarness stage(track_stage(), {});
  run_frame(stage, 0, first, 1);
  run_frame(stage, 1, second, 1);
  const std::vector<double> ids = ids_of(stage);
  for (std::size_t i = 0; i < ids.size(); ++i) CHECK(ids[i] == static_cast<double>(i + 1));
  const std::vector<TestContour> heap(400, box(0, 100, 100, 9, 9));
  StageHarness crowd(track_stage(), {});
  run_frame(crowd, 0, heap, 1);
  run_frame(crowd, 1, heap, 1);
  const std::vector<double> same = ids_of(crowd);
  for (std::size_t i = 0; i < same.size(); ++i) CHECK(same[i] == static_cast<double>(i + 1));
}

TEST_CASE("track takes coordinates that are infinite, NaN, or far outside the map") {
  const double nan = std::nan(""), inf = INFINITY;
  const std::vector<TestContour> odd{
      {0, false, {{nan, nan}}},
      {0, false, {{inf, 3}, {4, -inf}}},
      {0, true, {{1e9, 1e9}, {1e9 + 640, 1e9}, {1e9, 1e9 + 640}, {1e9, 1e9}}},
      {0, true, {{-1e6, -1e6}, {-1e6 + 8, -1e6}, {-1e6, -1e6 + 8}, {-1e6, -1e6}}},
      {0, true, {}}};
  StageHarness stage(track_stage(), {});
  run_frame(stage, 0, odd, 1);
  CHECK(ids_of(stage) == std::vector<double>{1, 2, 3, 4, 5});
  run_frame(stage, 1, odd, 1);
  const std::vector<double> ids = ids_of(stage);
  CHECK(ids[2] == 3);
  CHECK(ids[3] == 4);
  CHECK(ids[0] == 6);
  CHECK(ids[4] >= 7);
}
