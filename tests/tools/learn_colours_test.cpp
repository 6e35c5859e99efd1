// The reference colours that are learned from samples.
#include "tools/learn/colours.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tools/learn/picks.h"

namespace contorno {
namespace {

constexpr Colour kFruit{200, 60, 40}, kShadedFruit{215, 90, 60}, kBelt{50, 55, 60}, kStalk{60, 130, 50},
    kRail{250, 190, 160};

void add(std::vector<ColourSample>& samples, const Colour& colour, std::int16_t owner, int count,
         double weight = 1) {
  for (int i = 0; i < count; ++i) samples.push_back({colour, owner, weight});
}

bool has(const LearnedClass& one, const Colour& colour) {
  return std::find(one.references.begin(), one.references.end(), colour) != one.references.end();
}

TEST_CASE("everything else gets the colours that nobody pointed at") {
  std::vector<ColourSample> samples;
  add(samples, kFruit, 0, 100);
  add(samples, kBelt, kRest, 300);
  add(samples, kRail, kRest, 3);
  const LearnedColours learned = learn_colours(samples, {"fruit"}, Examples::Picks, {});
  REQUIRE(learned.classes.size() == 2);
  CHECK(learned.classes[0].references == std::vector<Colour>{kFruit});
  CHECK(learned.classes[1].name == kEverythingElse);
  CHECK(learned.classes[1].hidden);
  CHECK(learned.classes[1].references == std::vector<Colour>{kBelt, kRail});
  CHECK(learned.classes[0].share == doctest::Approx(100 / 403.0));
  CHECK(learned.classes[0].recall == 1);
}

TEST_CASE("a shade of a thing is not taken for something else, around a pick and on other things") {
  for (const std::int16_t where : {kRest, kAroundPick}) {
    CAPTURE(where);
    std::vector<ColourSample> samples;
    add(samples, kFruit, 0, 100);
    add(samples, kBelt, kRest, 300);
    add(samples, kShadedFruit, where, 8);
    const LearnedColours learned = learn_colours(samples, {"fruit"}, Examples::Picks, {});
    CHECK_FALSE(has(learned.classes.back(), kShadedFruit));
    CHECK(has(learned.classes.back(), kBelt));
  }
}

TEST_CASE("what things lie on stays something else, though it looks like a shade of them") {
  std::vector<ColourSample> samples;
  add(samples, kFruit, 0, 100);
  add(samples, kShadedFruit, kRest, 300);
  add(samples, kBelt, kRest, 100);
  const LearnedColours ground = learn_colours(samples, {"fruit"}, Examples::Picks, {});
  CHECK(has(ground.classes.back(), kShadedFruit));
  CHECK(has(ground.classes.back(), kBelt));
  // A little of a shade that the class has little of itself: the dark rail beside a fruit's shadow.
  constexpr Colour kShadow{60, 24, 20}, kDarkRail{44, 38, 37}, kDarkBelt{90, 86, 86};
  samples.clear();
  add(samples, kFruit, 0, 95);
  add(samples, kShadow, 0, 5);
  add(samples, kDarkRail, kRest, 30);
  add(samples, kDarkBelt, kRest, 300);
  const LearnedColours rail = learn_colours(samples, {"fruit"}, Examples::Picks, {});
  CHECK(has(rail.classes[0], kShadow));
  CHECK(has(rail.classes.back(), kDarkRail));
}

TEST_CASE("the next fruit, which nobody pointed at, stays with its class") {
  std::vector<ColourSample> samples;
  add(samples, kFruit, 0, 100);
  add(samples, kBelt, kRest, 300);
  add(samples, kFruit, kRest, 200);
  const LearnedColours learned = learn_colours(samples, {"fruit"}, Examples::Picks, {});
  CHECK_FALSE(has(learned.classes.back(), kFruit));
  CHECK(learned.classes[0].share == doctest::Approx(0.5));
}

TEST_CASE("without picks a rare colour far from the others is a class, a shade of a common one is not") {
  std::vector<ColourSample> samples;
  add(samples, kBelt, kRest, 100, 50);
  add(samples, {70, 75, 80}, kRest, 100, 20);
  add(samples, kFruit, kRest, 100, 25);
  add(samples, kStalk, kRest, 20);
  const LearnedColours learned = learn_colours(samples, {"a", "b", "c"}, Examples::Frames, {});
  CHECK(has(learned.classes[0], kBelt));
  CHECK(has(learned.classes[0], {70, 75, 80}));
  CHECK(has(learned.classes[1], kFruit));
  CHECK(has(learned.classes[2], kStalk));
  CHECK(learned.classes[2].share == doctest::Approx(20 / 9520.0));
}

TEST_CASE("a sample stands for its pixels, and rare colours of the rest give more of them") {
  std::vector<std::uint8_t> pixels;
  for (int i = 0; i < 100'000; ++i) {
    const Colour& colour = i < 400 ? kStalk : kBelt;
    pixels.insert(pixels.end(), {colour.red, colour.green, colour.blue});
  }
  ImageView frame{.data = pixels.data(), .format = {.width = 1000, .height = 100, .channels = 3}};
  frame.row_pitch = 3000;
  const std::vector<std::int16_t> owners(100'000, kRest);
  ColourSampler sampler({}, 1);
  sampler.take(frame, owners);
  double stalk = 0, all = 0;
  int stalk_samples = 0;
  for (const ColourSample& sample : sampler.samples()) {
    all += sample.weight;
    if (sample.colour == kStalk) stalk += sample.weight, ++stalk_samples;
  }
  CHECK(stalk == doctest::Approx(400));
  CHECK(all == doctest::Approx(100'000));
  // 0.4 % of the pixels, 6 % of the samples: the square root of its share against that of the belt.
  CHECK(stalk_samples > static_cast<int>(sampler.samples().size()) / 20);
}

}  // namespace
}  // namespace contorno
