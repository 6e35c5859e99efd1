// background on the CPU, and on the device where there is one, against a plain implementation.
#include "tests/stages/background/reference.h"

using namespace contorno;
using namespace contorno::test;

namespace {

Settings settings_of(const BackgroundParams& params) {
  return {{"threshold", params.threshold}, {"lightness", params.lightness}, {"rate", params.rate}};
}

/// Runs `frames` frames, and compares each map with the plain one.
void compare(const BackgroundParams& params, int channels, int frames, std::vector<double> scene = {}) {
  Settings settings = settings_of(params);
  settings.emplace_back("reference", params.reference);
  StageHarness stage(background_stage(), settings);
  stage.threads(3);
  PlainBackground plain(params, channels, std::move(scene));
  for (int number = 0; number < frames; ++number) {
    INFO("channels ", channels, ", frame ", number);
    const PictureSamples frame = scene_frame(number, channels);
    const TestImage image = image_of(frame, channels, 5);
    const std::vector<double> wanted = plain.next(frame);
    stage.run({image.view});
    double worst = 0;
    for (int y = 0, i = 0; y < kSceneHeight; ++y)
      for (int x = 0; x < kSceneWidth; ++x, ++i)
        worst = std::max(worst, std::abs(static_cast<double>(stage.at<float>(x, y)) -
                                         wanted[static_cast<std::size_t>(i)]));
    CHECK(worst < 2e-6);
    stage.next_frame(static_cast<std::uint64_t>(number) + 1);
  }
}

}  // namespace

TEST_CASE("background finds what a plain implementation finds, frame after frame") {
  for (const int channels : {1, 3, 4})
    for (const double rate : {0.0, 0.25, 3.0, 255.0})
      for (const double lightness : {1.0, 0.3, 0.0})
        compare({.threshold = 0.07, .lightness = lightness, .rate = rate}, channels, 12);
}

TEST_CASE("background begins with its reference and moves it, or keeps it for ever") {
  const PictureSamples empty = scene_frame(-100, 3);
  const std::vector<double> colours(empty.begin(), empty.end());
  for (const int channels : {3, 4})
    for (const double rate : {0.0, 2.0})
      compare({.reference = picture_of(empty), .threshold = 0.1, .rate = rate}, channels, 6, colours);
  const SharedMask picture = picture_of(empty);
  compare({.reference = picture, .rate = 1}, 1, 6, picture->values);
}

TEST_CASE("a reference that is an array has grey values, for frames of colour too") {
  auto array = std::make_shared<Mask>(Mask{.width = kSceneWidth, .height = kSceneHeight});
  std::vector<double> colours;
  for (int i = 0; i < kSceneWidth * kSceneHeight; ++i) {
    array->values.push_back(i % 255 + 0.5);
    for (int c = 0; c < 3; ++c) colours.push_back(i % 255 + 0.5);
  }
  compare({.reference = array, .rate = 1}, 3, 4, colours);
  array->values[7] = 255.5;
  const TestImage image = image_of(scene_frame(0, 3), 3);
  for (const double wrong : {255.5, -1.0, std::nan("")}) {
    array->values[7] = wrong;
    StageHarness stage(background_stage(), {{"reference", SharedMask(array)}});
    CHECK_THROWS_WITH_AS(stage.run({image.view}), doctest::Contains("allowed 0 to 255"), Error);
  }
}

TEST_CASE("the scene becomes what a pixel shows most of the time, whatever was there first") {
  // A pixel shows 100 in three frames of four, and 250 in the others, the first one among them.
  const ImageFormat format{.width = 1, .height = 1, .channels = 1};
  StageHarness stage(background_stage(), {{"threshold", 0.1}, {"rate", 0.5}});
  for (int number = 0; number < 600; ++number) {
    const bool object = number % 4 == 0;
    const TestImage image =
        filled_image<std::uint8_t>(format, [&](int, int, int) { return object ? 250 : 100; });
    stage.run({image.view});
    if (number > 450) CHECK((stage.at<float>(0, 0) > 0.5F) == object);
    stage.next_frame(static_cast<std::uint64_t>(number) + 1);
  }
}

TEST_CASE("a scene of another shape is not taken over, though it has as many bytes") {
  StageHarness stage(background_stage(), {{"rate", 1.0}});
  const TestImage first = image_of(scene_frame(0, 3), 3);
  stage.run({first.view});
  const TestImage turned =
      image_of(scene_frame(3, 3, kSceneHeight, kSceneWidth), 3, 0, kSceneHeight, kSceneWidth);
  stage.next_frame(1).run({turned.view});
  for (int y = 0; y < kSceneWidth; ++y)
    for (int x = 0; x < kSceneHeight; ++x) CHECK(stage.at<float>(x, y) == 0);
}

TEST_CASE("the frame is painted over where the map is below 0.5, and is itself elsewhere") {
  for (const int channels : {1, 3, 4}) {
    const PictureSamples empty = scene_frame(-100, 3), frame = scene_frame(4, channels);
    const SharedMask picture = picture_of(empty);
    const TestImage image = image_of(frame, channels);
    StageHarness maps(background_stage(), {{"reference", picture}});
    StageHarness painted(
        background_stage(),
        {{"reference", picture}, {"output", std::string("frame")}, {"paint", std::string("#0a141e80")}});
    maps.run({image.view});
    painted.run({image.view});
    CHECK(painted.image().format == image.view.format);
    int objects = 0;
    for (int y = 0; y < kSceneHeight; ++y)
      for (int x = 0; x < kSceneWidth; ++x) {
        const bool object = maps.at<float>(x, y) >= 0.5F;
        objects += object ? 1 : 0;
        const std::uint8_t paint[4] = {10, 20, 30, 128};
        for (int c = 0; c < channels; ++c)
          CHECK(painted.at<std::uint8_t>(x, y, c) == (object         ? image.at<std::uint8_t>(x, y, c)
                                                      : channels > 1 ? paint[c]
                                                                     : 18));
      }
    CHECK(objects > 60);
    CHECK(objects < 100);
  }
}

TEST_CASE("background refuses what it cannot look at, and a reference of another size") {
  const TestImage maps(ImageFormat{.width = 8, .height = 8, .channels = 1, .type = ElementType::F32});
  const TestImage two(ImageFormat{.width = 8, .height = 8, .channels = 2});
  const TestImage frame(ImageFormat{.width = 8, .height = 8, .channels = 3});
  for (const TestImage* image : {&maps, &two}) {
    StageHarness stage(background_stage(), {});
    CHECK_THROWS_WITH_AS(stage.run({image->view}), doctest::Contains("allowed 1, 3 or 4"), Error);
  }
  StageHarness stage(background_stage(), {{"reference", picture_of(scene_frame(0, 3))}});
  CHECK_THROWS_WITH_AS(stage.run({frame.view}),
                       doctest::Contains("the reference has 37x23 px, but the frames have 8x8"), Error);
}
