// Objects and shares in the legend of an overlay, frame after frame; where a device answers, pictures and
// what is kept for the next frame are compared with it.
#include "stages/overlay/legend_objects.h"
#include "stages/overlay/label_text.h"
#include "stages/overlay/stage.h"
#include "tests/stages/harness.h"

using namespace contorno;
using namespace contorno::test;

namespace {

/// Draws every text as a full box, so that the number of its characters can be seen.
class WideText final : public TextRasteriser {
 public:
  TextBitmap rasterise(std::string_view text, int height) const override {
    const int width = static_cast<int>(text.size()) * height / 2;
    return {width, height, std::vector<std::uint8_t>(static_cast<std::size_t>(width * height), 255)};
  }
};

}  // namespace

TEST_CASE("the legend of an overlay counts the objects so far, each once") {
  const TestImage in = filled_image<std::uint8_t>({.width = 260, .height = 150, .channels = 3},
                                                  [](int, int, int) { return 90; });
  const WideText text;
  const Settings settings{{"legend", std::string("top_left")}, {"objects", std::string("fruit")}};
  StageHarness harness(overlay_stage(), settings, {{.name = "fruit", .hidden = true}, {.name = "skin"}});
  harness.text(&text);
  std::uint64_t frame = 0;
  const auto drawn = [&](double id, double share) {
    const TestContours given(130, 75, 2,
                             {{0, true, {{10, 10}, {40, 10}, {40, 40}, {10, 40}, {10, 10}}},
                              {1, true, {{15, 15}, {30, 15}, {30, 30}, {15, 30}, {15, 15}}}},
                             {.scale_x = 2, .scale_y = 2},
                             Attributes(Attribute::Id, Attribute::Object, Attribute::Share));
    for (const int contour : {0, 1}) {
      given.view.column(Attribute::Id)[contour] = contour == 0 ? id : 1e6;
      given.view.column(Attribute::Object)[contour] = id;
      given.view.column(Attribute::Share)[contour] = contour == 0 ? 1 : share;
    }
    if (frame > 0) harness.next_frame(frame);
    ++frame;
    harness.run({in.view, given.view});
    return harness.bytes();
  };
  // Nothing but the last number of "fruit 1 of 9" changes: it has one digit, then two.
  const auto first = drawn(1, 0.25), again = drawn(1, 0.25);
  CHECK(again == first);
  for (int id = 2; id <= 9; ++id) CHECK(drawn(id, 0.25) == first);
  const auto tenth = drawn(10, 0.25);
  CHECK(tenth != first);
  CHECK(drawn(3, 0.25) == tenth);
  for (int id = 11; id <= 99; ++id) drawn(id, 0.25);
  CHECK(drawn(50, 0.25) == tenth);
  CHECK(drawn(100, 0.25) != tenth);
}

TEST_CASE("digits that have no room in the legend are left out, on every backend") {
  const auto size_of = [](int) { return StampSize{10, 12}; };
  const LegendForm form{.shown = true,
                        .digits = 0,
                        .of = 10,
                        .point = 11,
                        .per_cent = 12,
                        .none = 13,
                        .objects_end = {70, 5},
                        .left = 20};
  PlacedStamp pieces[LegendForm::kObjectPieces];
  LegendWriter writer(form, size_of, pieces);
  writer.objects(45, 123);  // "45 of 123", a picture each for a digit and for " of ", which are 60 px
  REQUIRE(writer.count() == 5);
  const int stamps[] = {3, 2, 1, 10, 5}, places[] = {60, 50, 40, 30, 20};
  for (int i = 0; i < 5; ++i) CHECK((pieces[i].stamp == stamps[i] && pieces[i].x == places[i]));
}

TEST_CASE("the legend of an overlay shows the largest share of a class on whole objects") {
  const TestImage in = filled_image<std::uint8_t>({.width = 260, .height = 150, .channels = 3},
                                                  [](int, int, int) { return 90; });
  const WideText text;
  const Settings settings{{"legend", std::string("top_left")}, {"shares", true}};
  const auto drawn = [&](double x, double share) {
    StageHarness harness(overlay_stage(), settings, {{.name = "fruit", .hidden = true}, {.name = "rot"}});
    const TestContours given(130, 75, 2,
                             {{0, true, {{x, 10}, {x + 30, 10}, {x + 30, 40}, {x, 40}, {x, 10}}},
                              {1, true, {{50, 15}, {60, 15}, {60, 30}, {50, 30}, {50, 15}}}},
                             {.scale_x = 2, .scale_y = 2},
                             Attributes(Attribute::Id, Attribute::Object, Attribute::Share));
    for (const int contour : {0, 1}) {
      given.view.column(Attribute::Id)[contour] = contour + 1;
      given.view.column(Attribute::Object)[contour] = 1;
      given.view.column(Attribute::Share)[contour] = contour == 0 ? 1 : share;
    }
    harness.text(&text).run({in.view, given.view});
    return harness.bytes();
  };
  // "rot 1.0 %" to "rot 9.9 %" have the same number of characters, "rot 10.0 %" has one more, "rot -" fewer.
  const auto one = drawn(40, 0.01);
  CHECK(drawn(40, 0.099) == one);
  CHECK(drawn(40, 0.1) != one);
  CHECK(drawn(0, 0.01) != one);
}
