// The morphology stages as the pipeline runs them, what they refuse, and the shapes of structuring elements.
#include "stages/morphology/stage.h"
#include "base/error.h"
#include "tests/stages/harness.h"
#include "tests/stages/morphology/reference.h"

using namespace contorno;
using namespace contorno::test;

namespace {

SharedMask mask_of(Mask mask) {
  return std::make_shared<Mask>(std::move(mask));
}

}  // namespace

TEST_CASE("the morphology stage takes windows as wide and as high as the image, and beyond") {
  const TestImage rgb = picture<std::uint8_t>({.width = 260, .height = 333, .channels = 3}, 231);
  const TestImage odd = picture<std::uint8_t>({.width = 333, .height = 260, .channels = 1}, 232);
  const TestImage deep = picture<std::uint16_t>({.width = 201, .height = 290, .channels = 4}, 233);
  const TestImage maps =
      picture<float>({.width = 90, .height = 301, .channels = 2, .layout = Layout::Planar}, 234);
  for (const TestImage* in : {&rgb, &odd, &deep, &maps})
    for (const auto& [width, height] : {std::pair{101, 101}, std::pair{3, 332}, std::pair{250, 4},
                                        std::pair{500, 700}, std::pair{1200, 92}})
      for (const bool middle : {true, false}) {
        const int anchor_x = middle ? width / 2 : width / 7, anchor_y = middle ? height / 2 : height - 1;
        INFO(width, "x", height, " at ", anchor_x, ",", anchor_y, " of ", describe(in->view.format));
        StageHarness harness(
            morphology_stage(),
            {{"operation", std::string("opening")},
             {"element", std::string("rectangle")},
             {"size", std::vector<double>{static_cast<double>(width), static_cast<double>(height)}},
             {"anchor", std::vector<double>{static_cast<double>(anchor_x), static_cast<double>(anchor_y)}}});
        harness.threads(2).output_row_extra(8).run({in->view});
        TestImage expected(in->view.format);
        apply_morphology(MorphologyOperation::Opening, in->view,
                         StructuringElement::rectangle(width, height).with_anchor(anchor_x, anchor_y),
                         expected.view);
        CHECK(same_image(harness.image(), expected.view));
      }
}

TEST_CASE("the morphology stage does what the function does, for every operation and element") {
  const char* words[] = {"erosion",
                         "dilation",
                         "opening",
                         "closing",
                         "gradient",
                         "internal_gradient",
                         "external_gradient",
                         "top_hat",
                         "black_hat",
                         "opening_by_reconstruction",
                         "closing_by_reconstruction"};
  const TestImage rgb = picture<std::uint8_t>({.width = 67, .height = 45, .channels = 3}, 28);
  const TestImage maps =
      picture<float>({.width = 67, .height = 45, .channels = 3, .layout = Layout::Planar}, 29);
  const TestImage deep = picture<std::uint16_t>({.width = 67, .height = 45, .channels = 4}, 30);
  for (std::size_t i = 0; i < std::size(kOperations); ++i)
    for (const TestImage* in : {&rgb, &maps, &deep}) {
      INFO("operation ", words[i], " of ", describe(in->view.format));
      StageHarness harness(morphology_stage(), {{"operation", std::string(words[i])},
                                                {"element", std::string("octagon")},
                                                {"size", std::vector<double>{7, 6}},
                                                {"anchor", std::vector<double>{1, 4}}});
      harness.threads(2).output_row_extra(8).run({in->view});
      TestImage expected(in->view.format);
      apply_morphology(kOperations[i], in->view, StructuringElement::octagon(7, 6).with_anchor(1, 4),
                       expected.view);
      CHECK(same_image(harness.image(), expected.view));
      CHECK(harness.image().format == in->view.format);
    }
}

TEST_CASE("morphology refuses what it cannot do with a sentence") {
  const TestImage f = picture<std::uint8_t>({.width = 8, .height = 8, .channels = 1}, 31);
  const auto refuses = [&](const Settings& settings, const char* part) {
    try {
      StageHarness harness(morphology_stage(), settings);
      harness.run({f.view});
      FAIL("accepted");
    } catch (const Error& error) {
      INFO(error.what());
      CHECK(error.code() == ExitCode::BadConfig);
      CHECK(std::string(error.what()).find(part) != std::string::npos);
    }
  };
  refuses({{"anchor", std::vector<double>{3, 0}}}, "anchor [3, 0] lies outside of the 3x3");
  refuses({{"anchor", std::vector<double>{1}}}, "allowed 2");
  refuses({{"size", std::vector<double>{2.5, 3}}}, "whole numbers");
  refuses({{"element", std::string("disk")}, {"size", std::vector<double>{3, 5}}}, "as wide as it is high");
  refuses({{"element", std::string("file")}}, "needs file");
  refuses({{"element", std::string("file")}, {"file", mask_of({2, 2, {0, 0, 0, 0}})}},
          "the mask has no member");
  refuses({{"heights", std::vector<double>{1, 2}}}, "2 heights");
  refuses({{"heights", std::vector<double>{0, 0, 0, 0, 0.5, 0, 0, 0, 0}}}, "not whole");
  refuses({{"border", std::string("constant")}, {"border_value", 256.0}},
          "allowed whole numbers from 0 to 255");
  CHECK_THROWS_AS(StructuringElement::from_mask({2, 2, {0, 0, 0, 0}}), Error);
  CHECK_THROWS_WITH_AS(StageHarness(morphology_stage(), {{"file", std::string("mask.npy")}}),
                       "file is mask.npy, allowed a mask of 1 to 4096 px a side", Error);
  CHECK_THROWS_WITH_AS(StageHarness(morphology_stage(), {{"file", mask_of({2, 2, {1}})}}),
                       "file is a mask of 2x2, allowed a mask of 1 to 4096 px a side", Error);
  CHECK_THROWS_AS(StructuringElement::rectangle(0, 3), Error);
  CHECK_THROWS_AS(StageHarness(hit_or_miss_stage(), {{"pattern", std::string("01 0")}}), Error);
  CHECK_THROWS_AS(StageHarness(hit_or_miss_stage(), {{"pattern", std::string("0x0")}}), Error);
  CHECK_THROWS_AS(StageHarness(hit_or_miss_stage(), {{"pattern", std::string("...")}}), Error);
  const TestImage other = picture<std::uint8_t>({.width = 9, .height = 8, .channels = 1}, 32);
  StageHarness pair(reconstruction_stage(), {});
  CHECK_THROWS_AS(pair.run({f.view, other.view}), Error);
}

TEST_CASE("the morphology stage takes members and heights from a mask") {
  const TestImage f = picture<std::uint8_t>({.width = 20, .height = 5, .channels = 1}, 33);
  const Settings settings{{"operation", std::string("dilation")},
                          {"element", std::string("file")},
                          {"file", mask_of({3, 1, {0, 7, 2}})}};
  StageHarness flat(morphology_stage(), settings);
  flat.run({f.view});
  Settings with_heights = settings;
  with_heights.emplace_back("non_flat", true);
  StageHarness high(morphology_stage(), with_heights);
  high.run({f.view});
  Settings few = settings;
  few.emplace_back("threshold", 2.0);
  StageHarness single(morphology_stage(), few);
  single.run({f.view});
  for (int y = 0; y < 5; ++y)
    for (int x = 0; x < 20; ++x) {
      const int here = f.at<std::uint8_t>(x, y), before = x > 0 ? f.at<std::uint8_t>(x - 1, y) : -300;
      CHECK(flat.at<std::uint8_t>(x, y) == std::max(here, before));
      CHECK(high.at<std::uint8_t>(x, y) == std::min(255, std::max(here + 7, before + 2)));
      CHECK(single.at<std::uint8_t>(x, y) == here);
    }
}

TEST_CASE("structuring elements have the shapes of their definitions") {
  using E = StructuringElement;
  const auto text = [](const E& element) {
    std::string all;
    for (int y = 0; y < element.height(); ++y) {
      for (int x = 0; x < element.width(); ++x) all += element.member(x, y) ? '#' : '.';
      if (y + 1 < element.height()) all += '/';
    }
    return all;
  };
  CHECK(text(E::ellipse(5, 5)) == "..#../#####/#####/#####/..#..");
  CHECK(text(E::disk(5)) == "..#../.###./#####/.###./..#..");
  CHECK(text(E::disk(4)) == ".##./####/####/.##.");
  CHECK(text(E::disk(1)) == "#");
  CHECK(text(E::cross(4, 3)) == "..#./####/..#.");
  CHECK(text(E::diamond(5, 5)) == "..#../.###./#####/.###./..#..");
  CHECK(text(E::diamond(1, 3)) == "#/#/#");
  CHECK(text(E::octagon(5, 5)) == ".###./#####/#####/#####/.###.");
  CHECK(text(E::octagon(3, 3)) == ".#./###/.#.");
  CHECK(text(E::line(5, 0)) == "#####");
  CHECK(text(E::line(3, 90)) == "#/#/#");
  CHECK(text(E::line(3, 45)) == "..#/.#./#..");
  CHECK(text(E::line(3, -45)) == "#../.#./..#");
  CHECK(E::rectangle(4, 7).anchor_x() == 2);
  CHECK(E::rectangle(4, 7).anchor_y() == 3);
  CHECK(E::rectangle(4, 7).reflected().anchor_x() == 1);
  const E skew = E::from_mask({3, 2, {1, 1, 0, 0, 0, 1}}).with_anchor(0, 1);
  for (const ElementOffset& o : skew.offsets()) {
    bool found = false;
    for (const ElementOffset& r : skew.reflected().offsets()) found |= r.x == -o.x && r.y == -o.y;
    CHECK(found);
  }
  CHECK(skew.reflected().reflected() == skew);
  CHECK(E::line(9, 30).member(E::line(9, 30).anchor_x(), E::line(9, 30).anchor_y()));
}
