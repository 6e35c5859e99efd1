// All steps on contours, where these are made to be slow: what is computed is counted, and grows no faster
// than a sort does; or the step refuses them with a sentence. A program of its own, because what is counted
// is compiled for that.
#include <doctest/doctest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "stages/contour_prep/measure_map/stage.h"
#include "stages/contour_prep/stage.h"
#include "tests/operations.h"
#include "tests/stages/contour_prep/slow_contours.h"

using namespace contorno;
using namespace contorno::test;

namespace {

/// What a step has besides its defaults.
struct Variant {
  std::string step;
  Settings settings;
};

std::vector<Settings> variants_of(const std::string& step) {
  const std::vector<Variant> variants{
      {"close_at_border", {{"positive_orientation", std::string("high")}}},
      {"drop_duplicates", {{"rule", std::string("any_earlier")}}},
      {"drop_duplicates", {{"distance", 0.001}}},
      {"drop_duplicates", {{"distance", 1e6}}},
      {"drop_small", {{"min_length", 3.0}, {"min_area", 2.0}}},
      {"largest_first", {{"by", std::string("length")}, {"limit", std::int64_t{3}}}},
      {"merge_close", {{"distance", 0.001}}},
      {"merge_close", {{"distance", 1e6}}},
      {"order_nearest", {{"order", std::string("endpoint")}}},
      {"resample", {{"points", std::int64_t{50}}}},
      {"simplify", {{"method", std::string("visvalingam")}}},
      {"simplify", {{"tolerance", 0.0}}},
      {"simplify", {{"points", std::int64_t{40}}}},
      {"smooth", {{"terms", std::int64_t{5}}, {"keep", std::string("top")}}},
      {"track", {{"min_overlap", 1.0}, {"max_distance", 0.0}}},
  };
  std::vector<Settings> of_step{{}};
  for (const Variant& one : variants)
    if (one.step == step) of_step.push_back(one.settings);
  return of_step;
}

/// What the second of two frames takes, for each point of the input and the output; nothing where the step
/// refuses them.
std::optional<double> operations_a_point(const StageType& step, const Settings& settings,
                                         const std::vector<TestContour>& contours) {
  const TestContours given(kSlowSide, kSlowSide, 1, contours);
  std::vector<Value> inputs{given.view};
  const TestImage maps({.width = kSlowSide, .height = step.inputs.size() > 1 ? kSlowSide : 1});
  if (step.inputs.size() > 1) inputs.emplace_back(maps.view);
  StageHarness harness(step, settings);
  harness.threads(1);
  try {
    harness.run(inputs);
    const std::uint64_t begin = operations();
    harness.next_frame(1).rerun();
    const auto took = static_cast<double>(operations() - begin);
    return took / static_cast<double>(given.view.counts->points +
                                      std::get<ContoursView>(harness.value()).counts->points);
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::BadData);
    CHECK(std::string(error.what()).find("allowed up to") != std::string::npos);
    return std::nullopt;
  }
}

void check_growth(const StageType& step, const Settings& settings) {
  constexpr int kFew = 6000, kFactor = 4;
  // A sort takes 1.16 times as many operations a point then; a step in which all is compared with all, four
  // times as many.
  constexpr double kMost = 1.6;
  for (const SlowContours& family : slow_contours()) {
    const auto few = operations_a_point(step, settings, family.make(kFew)),
               many = operations_a_point(step, settings, family.make(kFactor * kFew));
    INFO(step.name, " with ", settings.size(), " settings",
         settings.empty() ? "" : ", the first one " + settings[0].first, ": ", family.name);
    CAPTURE(few.value_or(-1));
    CAPTURE(many.value_or(-1));
    CHECK(few.has_value() >= many.has_value());
    if (many) CHECK(*many < kMost * *few + 20);
  }
}

}  // namespace

TEST_CASE("no step on contours takes more operations than a sort, or it refuses the frame with a sentence") {
  for (const StageType* step : contour_steps())
    if (step->inputs.size() == 1)
      for (const Settings& settings : variants_of(step->name)) check_growth(*step, settings);
}

TEST_CASE("all that a step computes is counted") {
  const auto step =
      std::ranges::find_if(contour_steps(), [](const auto* one) { return one->name == "measure"; });
  const auto took = operations_a_point(**step, {}, slow_contours_of_one()[0].make(5000));
  REQUIRE(took);
  CHECK(*took > 5);
}
