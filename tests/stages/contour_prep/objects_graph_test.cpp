// Records of objects in a run: the same for any number of slots and on both backends, whatever fails, is run
// again or is dropped; and handed to every sink once. What is in a record is compared with a plain way to
// compute it in objects_oracle_test.py.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdio>
#include <limits>
#include <map>
#include <set>
#include <thread>

#include "pipeline/run/runner.h"
#include "pipeline/value/object_ledger.h"
#include "stages/contour_prep/objects/stage.h"
#include "tests/stages/contour_prep/carried_contours.h"

using namespace contorno;
using namespace contorno::test;
using namespace std::chrono_literals;

namespace {

/// A record in numbers, so that two can be compared.
std::vector<double> numbers_of(const ObjectRecord& record) {
  std::vector<double> all{static_cast<double>(record.id),
                          static_cast<double>(record.views),
                          static_cast<double>(record.whole_views),
                          static_cast<double>(record.median_views),
                          static_cast<double>(record.first.frame),
                          static_cast<double>(record.last.frame),
                          record.left ? 1.0 : 0.0};
  const auto add = [&](const ViewNumbers& of) { all.insert(all.end(), {of.largest, of.mean, of.median}); };
  add(record.area);
  for (const ObjectShare& one : record.classes) {
    add(one.share), add(one.count);
    all.push_back(one.best ? static_cast<double>(one.best->frame) : -1);
    all.push_back(one.is_over ? 1 : 0);
  }
  return all;
}

/// Keeps records, and the number of the frame that came behind each.
struct KeepRecords final : Sink {
  std::vector<std::vector<double>> records;
  std::vector<std::uint64_t> frames, before;
  std::chrono::microseconds pause{0};

  void open(const SinkContext&) override {}
  void write(const FrameInfo& info, const Value&) override {
    std::this_thread::sleep_for(pause);
    frames.push_back(info.number);
    before.resize(records.size(), info.number);
  }
  void write_objects(const FinishedObjects& objects) override {
    CHECK(objects.stage == "objects");
    CHECK(objects.rule->classes.size() == 3);
    for (const ObjectRecord& record : objects.records) records.push_back(numbers_of(record));
  }
  void finish() override { before.resize(records.size(), std::numeric_limits<std::uint64_t>::max()); }
};

struct ObjectSetting {
  Backend backend = Backend::Cpu;
  int slots = 1;
  OnFull on_full = OnFull::Wait;
  OnFull sink_on_full = OnFull::Wait;
  int max_missed = 3;
};

RunReport run_objects(const ObjectSetting& setting, Carrier& source, KeepRecords& sink) {
  GraphSpec graph;
  graph.settings.slots = setting.slots;
  graph.settings.on_full = setting.on_full;
  graph.classes = {{.name = "fruit"}, {.name = "rot"}, {.name = "scab"}};
  graph.nodes.push_back({.name = "unpack",
                         .type = &unpack_stage(),
                         .params = ParamSet(unpack_stage().params),
                         .inputs = {{Origin::kSource, Origin::kFrame}}});
  graph.nodes.push_back({.name = "objects",
                         .type = &objects_stage(),
                         .params = ParamSet(objects_stage().params),
                         .inputs = {{0, 0}}});
  graph.nodes.back().params.set("max_missed", std::int64_t{setting.max_missed});
  graph.nodes.back().params.set("max_views", std::int64_t{5});
  // The sink takes something else: the records need what objects makes all the same.
  Runner runner(
      graph, source,
      {{.name = "keep", .sink = &sink, .input = {0, 0}, .settings = {.on_full = setting.sink_on_full}}},
      {.backend = setting.backend});
  return runner.run();
}

std::vector<Backend> object_backends() {
  if (!device_report().available) std::puts("skipped: records of objects on CUDA (no device here)");
  return backends();
}

}  // namespace

TEST_CASE("records are the same for any slots and backend, whatever fails or is run again") {
  events = {.fail = {17, 18, 25, 58}, .need = {{5, 500}, {20, 600}, {21, 700}, {39, 900}, {40, 1200}}};
  const Scene scene = moving_scene(17, 3, 60, 60);
  std::vector<std::vector<double>> wanted;
  std::vector<std::uint64_t> before;
  for (const Backend backend : object_backends())
    for (const int slots : {1, 2, 3, 8}) {
      INFO("backend ", std::string(name_of(backend)), ", slots ", slots);
      Carrier source(scene);
      KeepRecords sink;
      const RunReport report = run_objects({.backend = backend, .slots = slots}, source, sink);
      CHECK(report.frames.failed == 9);
      CHECK(report.frames.regrown >= 5);
      if (wanted.empty()) wanted = sink.records, before = sink.before;
      CHECK(sink.records == wanted);
      CHECK(sink.before == before);
      REQUIRE(report.objects.size() == 1);
      CHECK(report.objects[0].objects == wanted.size());
    }
  std::set<double> ids;
  for (const auto& record : wanted) ids.insert(record[0]);
  CHECK(ids.size() == wanted.size());
  CHECK(wanted.size() > 30);
}

TEST_CASE("a sink that drops frames gets every record, each once") {
  events = {};
  const Scene scene = moving_scene(19, 3, 60, 90);
  Carrier source(scene), again(scene);
  KeepRecords all, some;
  run_objects({.slots = 3}, source, all);
  some.pause = 2ms;
  const RunReport report = run_objects({.slots = 4, .sink_on_full = OnFull::DropOldest}, again, some);
  CHECK(report.sinks[0].dropped > 5);
  CHECK(some.records == all.records);
}

TEST_CASE("an object that was seen in frames which nobody got has one record") {
  events = {};
  // One object, in every frame; frames that have been worked on are dropped.
  Scene scene;
  for (std::uint64_t frame = 0; frame < 120; ++frame) {
    const double x = 50 + static_cast<double>(frame) / 8;
    scene.frames.push_back({{0, true, {{x, 50}, {x + 9, 50}, {x + 9, 59}, {x, 59}, {x, 50}}}});
    scene.numbers.push_back(frame);
  }
  for (const Backend backend : object_backends()) {
    Carrier source(scene);
    KeepRecords sink;
    source.pause = 300us, sink.pause = 5ms;
    const RunReport report = run_objects(
        {.backend = backend, .slots = 2, .on_full = OnFull::DropOldest, .max_missed = 1}, source, sink);
    CHECK(report.frames.dropped_ring_full > 5);
    std::map<double, int> records;
    for (const auto& record : sink.records) ++records[record[0]];
    for (const auto& [id, count] : records) CHECK(count == 1);
  }
}

TEST_CASE("a ledger waits for an object that may have been seen in a hidden frame") {
  ObjectsRule rule{
      .name = "fruit", .classes = {{.name = "fruit"}}, .max_missed = 2, .max_objects = 9, .max_views = 4};
  ObjectLedger ledger(rule);
  TestContours there(100, 100, 1, {{0, true, {{9, 9}, {19, 9}, {19, 19}, {9, 19}, {9, 9}}}}, {},
                     kObjectsAttributes);
  there.view.column(Attribute::Id)[0] = there.view.column(Attribute::Object)[0] = 7;
  there.view.column(Attribute::Share)[0] = 1;
  const TestContours empty(100, 100, 1, {}, {}, kObjectsAttributes);
  CHECK(ledger.add(there.view, {.frame = 4}).empty());
  CHECK(ledger.add(empty.view, {.frame = 6}).empty());
  ledger.note_hidden(5);
  CHECK(ledger.add(empty.view, {.frame = 7}).empty());
  CHECK(ledger.add(there.view, {.frame = 7 + 0}).size() == 1);  // a recording begins anew
  CHECK(ledger.add(empty.view, {.frame = 9}).empty());
  const std::vector<ObjectRecord> left = ledger.add(empty.view, {.frame = 10});
  REQUIRE(left.size() == 1);
  CHECK(left[0].views == 1);
  CHECK(left[0].area.largest == 100);
  CHECK(ledger.finish().empty());
  CHECK(ledger.totals().objects == 2);
}
