// contour_prep, a node a step in one graph, against its steps run one by one, on the CPU and on the device
// where there is one.
#include "stages/contour_prep/stage.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <deque>

#include "base/error.h"
#include "cuda/device.h"
#include "pipeline/graph/applied.h"
#include "pipeline/graph/planned.h"
#include "stages/contour_prep/drop_small/stage.h"
#include "stages/contour_prep/largest_first/stage.h"
#include "stages/contour_prep/measure_map/stage.h"
#include "stages/contour_prep/order_nearest/stage.h"
#include "stages/contour_prep/resample/stage.h"
#include "stages/contour_prep/simplify/stage.h"
#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/reference.h"
#include "tests/stages/contour_prep/slow_contours.h"
#include "tests/stages/default_params.h"

using namespace contorno;
using namespace contorno::test;

namespace {

StepSpec step(const StageType& type, const Settings& settings) {
  StepSpec one{.type = &type, .params = ParamSet(type.params)};
  for (const auto& [name, value] : settings) one.params.set(name, value);
  return one;
}

const std::vector<StepSpec>& some_steps() {
  static const std::vector<StepSpec> steps{
      step(drop_small_stage(), {{"min_points", std::int64_t{3}}}),
      step(largest_first_stage(), {{"by", std::string("length")}, {"limit", std::int64_t{30}}}),
      step(drop_small_stage(), {{"min_length", 4.5}, {"min_points", std::int64_t{0}}}),
      step(largest_first_stage(), {{"by", std::string("points")}}),
      step(largest_first_stage(), {{"limit", std::int64_t{7}}})};
  return steps;
}

ParamSet params_with(const std::vector<StepSpec>& steps) {
  ParamSet params(contour_prep_stage().params);
  params.set("steps", std::make_shared<const std::vector<StepSpec>>(steps));
  return params;
}

/// A list of steps on contours, from frame to frame.
class StepsOnContours {
 public:
  explicit StepsOnContours(const std::vector<StepSpec>& steps, Backend backend = Backend::Cpu,
                           int threads = 1)
      : stage_(contour_prep_stage(), params_with(steps), backend, threads) {}
  const ContoursView& run(const TestContours& in) {
    const Format format = in.format;
    stage_.plan({&format, 1});
    std::memcpy(std::get<ContoursView>(stage_.input(0)).counts, in.view.counts, packed_bytes(in.format));
    stage_.run();
    return std::get<ContoursView>(stage_.output(0));
  }

 private:
  AppliedStage stage_;
};

/// What steps give one after the other, each a stage of its own.
class StepsAlone {
 public:
  StepsAlone(const std::vector<StepSpec>& steps, const ContoursView& in) {
    Value value = in;
    for (const StepSpec& one : steps) {
      Settings settings;
      for (const ParamSpec& spec : one.type->params.specs)
        settings.emplace_back(spec.name, one.params.get(spec.name));
      stages_.emplace_back(*one.type, settings).run({value});
      value = stages_.back().value();
    }
  }
  const ContoursView& result() const { return std::get<ContoursView>(stages_.back().value()); }

 private:
  std::deque<StageHarness> stages_;
};

/// Checks that a list gives on every backend, and frame after frame, what its steps give alone.
void check_steps(const std::vector<StepSpec>& steps, const TestContours& in) {
  const StepsAlone alone(steps, in.view);
  CHECK(alone.result().counts->contours > 0);
  for (const Backend backend : backends())
    for (const int threads : {1, 3}) {
      INFO(steps.size(), " steps on ", std::string(name_of(backend)), ", threads ", threads);
      StepsOnContours together(steps, backend, threads);
      for (int frame = 0; frame < 2; ++frame) {
        const ContoursView& out = together.run(in);
        CHECK(same_contours(out, alone.result()));
        // The output has the room that its last step asks for.
        CHECK(out.format == alone.result().format);
      }
    }
}

/// Bytes that a slot has for these steps alone, on contours of this format.
std::size_t slot_bytes(const std::vector<StepSpec>& steps, const ContoursFormat& format) {
  const GraphSpec graph = graph_of(contour_prep_stage(), params_with(steps));
  Capacities capacities(graph.nodes.size());
  PlannedGraph planned({.graph = &graph, .probe_every = kNoFrame, .capacities = &capacities, .exports = {}});
  planned.plan({{format}, "a test"});
  return planned.memory().host;
}

}  // namespace

TEST_CASE("contour_prep gives what its steps give one after the other") {
  const TestContours in(64, 64, 4, exact_contours(21, 4, 60));
  for (std::size_t count = 1; count <= some_steps().size(); ++count)
    check_steps({some_steps().begin(), some_steps().begin() + static_cast<std::ptrdiff_t>(count)}, in);
}

TEST_CASE("a step whose output has too little room is run again with more, and so are those behind it") {
  const TestContours in(64, 64, 4, exact_contours(22, 4, 40));
  const StepSpec finer = step(resample_stage(), {{"spacing", 0.0009765625}}),
                 even = step(resample_stage(), {{"points", std::int64_t{200}}}),
                 small = step(drop_small_stage(), {{"min_points", std::int64_t{100}}});
  check_steps({finer, small, even}, in);
  // What the first one makes is more than it plans for.
  CHECK(StepsAlone({finer}, in.view).result().counts->points > 16 * in.format.point_capacity);
}

TEST_CASE("contours may need more or less room between steps than in the output") {
  const TestContours in(64, 64, 4, exact_contours(23, 4, 40));
  const StepSpec few = step(resample_stage(), {{"points", std::int64_t{3}}}),
                 many = step(resample_stage(), {{"points", std::int64_t{12}}}),
                 order = step(largest_first_stage(), {{"by", std::string("length")}});
  for (const std::vector<StepSpec>& steps :
       {std::vector{few, many, few}, {few, many, order, few}, {many, order, order, few}, {many, few, few}})
    check_steps(steps, in);
}

TEST_CASE("many steps take the memory of two") {
  const ContoursFormat format{.width = 511,
                              .height = 95,
                              .classes = 8,
                              .point_capacity = 16384,
                              .contour_capacity = 4096,
                              .placement = {}};
  const StepSpec& one = some_steps()[1];
  const std::size_t eleven = slot_bytes(std::vector<StepSpec>(11, one), format);
  CHECK(eleven == slot_bytes({one, one}, format));
  CHECK(eleven < packed_bytes(format) + slot_bytes({one}, format) + 4096);
}

TEST_CASE("contour_prep refuses a list without steps, and what is no step") {
  ParamSet params(contour_prep_stage().params);
  const auto refused = [&](const std::vector<StepSpec>& steps) {
    params.set("steps", std::make_shared<const std::vector<StepSpec>>(steps));
  };
  const auto sentence = [&](const std::vector<StepSpec>& steps) -> std::string {
    try {
      refused(steps);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  CHECK(sentence({}).starts_with("steps is [], allowed a list of steps, each one of exclude, "));
  CHECK(sentence({{.type = &contour_prep_stage(), .params = ParamSet(contour_prep_stage().params)}})
            .starts_with("steps is [contour_prep], allowed"));
}

TEST_CASE("contours that did not fit are read by no step, and how much room they need is passed on") {
  const TestImage maps(
      {.width = 64, .height = 64, .channels = 2, .type = ElementType::F32, .layout = Layout::Planar});
  for (const bool points : {true, false}) {
    TestContours in(64, 64, 2, exact_contours(3, 2, 9));
    ContourCounts& counts = *in.view.counts;
    (points ? counts.points : counts.contours) =
        (points ? in.format.point_capacity : in.format.contour_capacity) + 1;
    // Who reads it goes far outside.
    std::fill_n(in.view.offsets, in.format.contour_capacity + 1, 0xF0000000U);
    std::fill_n(in.view.class_begin, 3, 0xF0000000U);
    std::fill_n(in.view.closed, in.format.contour_capacity, std::uint8_t{0xA5});
    const auto check = [&](const ContoursView& out) {
      CHECK(!out.fits());
      CHECK(out.counts->points >= counts.points);
      CHECK(out.counts->contours == counts.contours);
      CHECK(
          std::all_of(out.class_begin, out.class_begin + 3, [](std::uint32_t begin) { return begin == 0; }));
    };
    std::vector<StepSpec> all;
    for (const StageType* type : contour_steps()) {
      INFO(type->name, points ? ", points" : ", contours");
      StageHarness stage(*type, {});
      const bool alone = type->inputs.size() == 1;
      stage.run(alone ? std::vector<Value>{in.view} : std::vector<Value>{in.view, maps.view});
      CHECK(stage.regrown() == 0);
      check(std::get<ContoursView>(stage.value()));
      if (alone) all.push_back(step(*type, {}));
    }
    for (const Backend backend : backends()) check(StepsOnContours(all, backend).run(in));
  }
}

TEST_CASE("every step goes from contours to contours, and may take images beside them") {
  for (const StageType* type : contour_steps()) {
    INFO(type->name);
    REQUIRE(!type->inputs.empty());
    REQUIRE(type->outputs.size() == 1);
    CHECK(type->inputs[0].type == PortType::Contours);
    CHECK(std::all_of(type->inputs.begin() + 1, type->inputs.end(),
                      [](const PortSpec& port) { return port.type == PortType::Image; }));
    CHECK(type->outputs[0].type == PortType::Contours);
  }
}

TEST_CASE("a step that takes more than contours is refused where there is nothing else") {
  CHECK_THROWS_WITH_AS(
      graph_of(contour_prep_stage(), params_with({some_steps()[0], step(measure_map_stage(), {})})),
      "contour_prep: steps[1] is measure_map, which takes maps too; use it in a graph, or alone", Error);
}

TEST_CASE("a device refuses contours that cost the square of their points, and works on the next frame") {
  if (!device_report().available) return;
  const auto check = [](const StepSpec& one, const std::vector<TestContour>& contours, const char* sentence) {
    INFO(one.type->name);
    const TestContours in(kSlowSide, kSlowSide, 1, contours);
    StepsOnContours steps({one}, Backend::Cuda);
    CHECK_THROWS_WITH_AS(steps.run(in), doctest::Contains(sentence), Error);
    // The same room, with nothing in it.
    *in.view.counts = {}, in.view.class_begin[1] = 0;
    CHECK(steps.run(in).counts->contours == 0);
  };
  check(step(simplify_stage(), {{"tolerance", 0.5}}), {{0, true, comb_of(600'000)}}, "allowed up to so many");
  const auto squares = slow_contours_of_many()[0].make(300'000);
  for (const char* order : {"greedy", "endpoint"})
    check(step(order_nearest_stage(), {{"order", std::string(order)}}), squares,
          "comparing the 60000 contours of a class with each other");
}
