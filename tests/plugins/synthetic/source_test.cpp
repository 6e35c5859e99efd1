// The synthetic sorting line: the same bits for the same seed, maps that say what the frame shows, defects
// that turn with the fruit, and the rules that every source follows.
#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>

#include "base/error.h"
#include "plugins/synthetic/picture.h"
#include "plugins/synthetic/sources.h"
#include "stages/contours/find_contours.h"
#include "stages/diamond_square/field.h"
#include "stages/shared/sample_value.h"
#include "tests/allocation_counter.h"
#include "tests/stages/harness.h"

using namespace contorno;
using namespace contorno::synthetic;

namespace {

/// A source with memory for its frames.
struct Player {
  std::unique_ptr<Source> source;
  Block frame_memory, maps_memory;
  FrameInput input;

  Player(const SourceType& type, const test::Settings& settings) {
    ParamSet params(type.params);
    for (const auto& [name, value] : settings) params.set(name, value);
    source = type.make(params);
    const StreamFormat& format = source->format();
    if (format.frame) {
      frame_memory = Block(packed_bytes(*format.frame), MemoryKind::Host);
      input.frame = packed_view(frame_memory.data(), *format.frame);
    }
    if (format.maps) {
      maps_memory = Block(packed_bytes(*format.maps), MemoryKind::Host);
      input.maps = packed_view(maps_memory.data(), *format.maps);
    }
  }
  void play(int frames = 1) & {
    for (int i = 0; i < frames; ++i) REQUIRE(source->read(input) == ReadResult::Frame);
  }
  Player play(int frames = 1) && {
    static_cast<Player&>(*this).play(frames);
    return std::move(*this);
  }
  double map(int klass, int x, int y) const {
    return plane_of(input.maps, klass, probability_scale(input.maps.format.type)).at(y, x);
  }
  const std::uint8_t* pixel(int x, int y) const { return input.frame.row<std::uint8_t>(y) + 4 * x; }
  /// All samples of frame and maps.
  std::vector<std::byte> bits() const {
    std::vector<std::byte> all;
    for (const ImageView& view : {input.frame, input.maps}) {
      if (view.data == nullptr) continue;
      for (int plane = 0; plane < view.format.planes(); ++plane)
        for (int y = 0; y < view.format.height; ++y) {
          const auto* row = view.row<const std::byte>(y, plane);
          all.insert(all.end(), row, row + view.format.row_bytes());
        }
    }
    return all;
  }
};

test::Settings small(const test::Settings& more = {}) {
  test::Settings settings{{"maps_size", std::vector<double>{160, 60}},
                          {"frame_size", std::vector<double>{240, 90}}};
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}
ParamValue number(std::int64_t v) {
  return v;
}

}  // namespace

TEST_CASE("the synthetic line gives the same bits for the same seed, whatever the threads") {
  const Player one = Player(synthetic_source(), small({{"threads", number(1)}, {"seed", number(5)}})).play(3);
  for (const int threads : {1, 2, 3}) {
    const Player other =
        Player(synthetic_source(), small({{"threads", number(threads)}, {"seed", number(5)}})).play(3);
    CHECK(one.bits() == other.bits());
  }
  const Player stranger = Player(synthetic_source(), small({{"seed", number(6)}})).play(3);
  CHECK(one.bits() != stranger.bits());
}

TEST_CASE("the synthetic line gives the same bits with every kind of vectors") {
  std::vector<std::vector<std::uint8_t>> pictures;
  std::vector<std::vector<float>> truths;
  for (const Simd simd :
       {Simd::Portable, best_simd() == Simd::Portable ? Simd::Portable : Simd::Avx2, best_simd()}) {
    Line line({.seed = 3, .kinds = {FruitKind::RedApple, FruitKind::Lemon, FruitKind::Tomato}, .simd = simd},
              300, 90);
    line.advance(4);
    const ImageFormat frame{.width = 300, .height = 90, .channels = 4};
    const ImageFormat maps{
        .width = 150, .height = 45, .channels = 8, .type = ElementType::F32, .layout = Layout::Planar};
    std::vector<std::uint8_t>& pixels = pictures.emplace_back(packed_bytes(frame));
    std::vector<float>& samples = truths.emplace_back(packed_bytes(maps) / sizeof(float));
    FramePainter(line, 300, 90, 1.5, 3).paint(4, packed_view(pixels.data(), frame));
    MapPainter(line, maps, {}, 3).paint(4, packed_view(samples.data(), maps));
  }
  for (const std::size_t other : {1, 2}) {
    CHECK(pictures[0] == pictures[other]);
    CHECK(std::memcmp(truths[0].data(), truths[other].data(), truths[0].size() * sizeof(float)) == 0);
  }
}

TEST_CASE(
    "class maps are probabilities: 0 to 1, of all classes together 1, in every type, layout and number") {
  for (const int classes : {2, 3, 8, 20})
    for (const char* type : {"float32", "float16", "uint8"}) {
      if (classes != 8 && std::strcmp(type, "float32") != 0) continue;
      INFO(classes, " classes, ", type);
      const Player chw = Player(synthetic_source(),
                                small({{"classes", number(classes)}, {"number_type", std::string(type)}}))
                             .play();
      const Player hwc = Player(synthetic_source(), small({{"classes", number(classes)},
                                                           {"number_type", std::string(type)},
                                                           {"layout", std::string("hwc")}}))
                             .play();
      const double step = std::strcmp(type, "float32") == 0   ? 1e-6
                          : std::strcmp(type, "float16") == 0 ? 4e-4
                                                              : 2e-3;
      double worst = 0;
      bool inside = true, same = true;
      for (int y = 0; y < 60; ++y)
        for (int x = 0; x < 160; ++x) {
          double sum = 0;
          for (int k = 0; k < classes; ++k) {
            const double p = chw.map(k, x, y);
            inside = inside && p >= 0 && p <= 1;
            same = same && p == hwc.map(k, x, y);
            sum += p;
          }
          worst = std::max(worst, std::abs(sum - 1));
        }
      CHECK(inside);
      CHECK(same);
      CHECK(worst < step * classes);
    }
}

TEST_CASE("half and byte maps are the float maps, rounded to nearest") {
  const Player exact = Player(synthetic_source(), small()).play();
  const Player half = Player(synthetic_source(), small({{"number_type", std::string("float16")}})).play();
  const Player byte = Player(synthetic_source(), small({{"number_type", std::string("uint8")}})).play();
  double half_error = 0, byte_error = 0;
  for (int k = 0; k < 8; ++k)
    for (int y = 0; y < 60; ++y)
      for (int x = 0; x < 160; ++x) {
        const double p = exact.map(k, x, y);
        half_error = std::max(half_error, std::abs(half.map(k, x, y) - p) - std::max(p * 0x1p-11, 0x1p-25));
        byte_error = std::max(byte_error, std::abs(byte.map(k, x, y) - p));
      }
  CHECK(half_error <= 0);
  CHECK(byte_error <= 0.5 / 255 + 1e-7);
}

TEST_CASE("maps say where the fruit are in the frame, and defects lie on fruit") {
  const test::Settings still{{"camera_noise", 0.0}, {"noise", 0.0},
                             {"softness", 0.0},     {"defects", 1.0},
                             {"seed", number(11)},  {"frame_size", std::vector<double>{511, 95}}};
  test::Settings empty = still;
  empty.emplace_back("fill", 0.0);
  const Player line = Player(synthetic_source(), still).play(30),
               rollers = Player(synthetic_source(), empty).play(30);
  int fruit = 0, hidden = 0, far = 0, changed = 0, defects = 0, off = 0;
  for (int y = 0; y < 95; ++y)
    for (int x = 0; x < 511; ++x) {
      const double background = line.map(0, x, y);
      const std::uint8_t *here = line.pixel(x, y), *bare = rollers.pixel(x, y);
      const int difference =
          std::abs(here[0] - bare[0]) + std::abs(here[1] - bare[1]) + std::abs(here[2] - bare[2]);
      const bool brighter = here[0] + here[1] + here[2] > bare[0] + bare[1] + bare[2];
      if (background < 0.01) ++fruit, hidden += difference < 12 ? 1 : 0;
      if (background > 0.999) ++far, changed += brighter ? 1 : 0;  // shadows only darken
      double defect = 0;
      for (int k = 3; k < 8; ++k) defect += line.map(k, x, y);
      if (defect > 0.5) ++defects, off += background > 0.25 ? 1 : 0;
    }
  CHECK(fruit > 10000);
  CHECK(hidden < fruit / 20);
  CHECK(far > 8000);
  CHECK(changed == 0);
  CHECK(defects > 200);
  CHECK(off <= defects / 50);
  for (int x = 0; x < 511; ++x) CHECK(rollers.map(0, x, 47) == doctest::Approx(1));
}

TEST_CASE("fruit travel with the line, and their defects turn with them") {
  // A place is 98 px here and takes 98 frames: a pixel a frame.
  const test::Settings slow{{"maps_size", std::vector<double>{500, 100}},
                            {"speed", 1.0},
                            {"rate", 98.0},
                            {"noise", 0.0},
                            {"defects", 1.0},
                            {"seed", number(2)}};
  const auto largest_change = [&](double spin) {
    test::Settings settings = slow;
    settings.emplace_back("spin", spin);
    Player player(synthetic_source(), settings);
    const Player before = Player(synthetic_source(), settings).play(10);
    player.play(14);
    double outline = 0, inside = 0;
    for (int y = 0; y < 100; ++y)
      for (int x = 10; x < 480; ++x)
        for (int k = 0; k < 8; ++k) {
          const double change = std::abs(player.map(k, x + 4, y) - before.map(k, x, y));
          (k == 0 ? outline : inside) += change;
        }
    return std::pair(outline, inside);
  };
  const auto [still_outline, still_inside] = largest_change(0);
  const auto [outline, inside] = largest_change(0.5);
  CHECK(still_outline < 20);
  CHECK(still_inside < 60);
  CHECK(inside > 10 * still_inside);
}

TEST_CASE("the pipeline's contours of the background run around the fruit") {
  const Player line =
      Player(synthetic_source(),
             {{"classes", number(2)}, {"fruit", std::string("oranges")}, {"seed", number(4)}, {"fill", 1.0}})
          .play(5);
  ImageView plane = line.input.maps;
  plane.format.channels = 1;
  plane.data = line.input.maps.row<char>(0, 1);
  const auto contours = find_contours(plane, {.level = 0.5});
  // Five to seven fruit are in view, whole or cut by the border.
  CHECK(contours.count() >= 5);
  CHECK(contours.count() <= 8);
}

TEST_CASE("with one class the map is that of all defects") {
  const Player one =
      Player(synthetic_source(), small({{"classes", number(1)}, {"noise", 0.0}, {"defects", 1.0}})).play(20);
  const Player three =
      Player(synthetic_source(), small({{"classes", number(3)}, {"noise", 0.0}, {"defects", 1.0}})).play(20);
  double worst = 0, sum = 0;
  for (int y = 0; y < 60; ++y)
    for (int x = 0; x < 160; ++x) {
      worst = std::max(worst, std::abs(one.map(0, x, y) - three.map(2, x, y)));
      sum += one.map(0, x, y);
    }
  CHECK(worst < 1e-5);
  CHECK(sum > 10);
}

TEST_CASE("synthetic frames have times, end after their number, and stop when cancelled") {
  Player player(synthetic_source(), small({{"frames", number(3)}, {"rate", 50.0}}));
  CHECK(player.source->format().frame_count == 3);
  CHECK(player.source->format().maps->placement.scale_x == doctest::Approx(1.5));
  player.play(3);
  CHECK(player.input.info.pts_ns == 40'000'000);
  CHECK(player.source->read(player.input) == ReadResult::End);

  Player live(synthetic_source(), small({{"live", true}, {"rate", 0.1}}));
  live.play();
  std::thread stop([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    live.source->cancel();
  });
  CHECK(live.source->read(live.input) == ReadResult::End);
  stop.join();
}

TEST_CASE("synthetic frames are painted without allocating") {
  Player player(synthetic_source(), small({{"threads", number(1)}, {"speed", 60.0}}));
  player.play(2);
  const std::uint64_t before = test::allocations();
  player.play(3);
  CHECK(test::allocations() == before);
}

TEST_CASE("the synthetic sources refuse sizes that are none") {
  CHECK_THROWS_AS(Player(synthetic_source(), {{"maps_size", std::vector<double>{10.5, 10}}}), Error);
  CHECK_THROWS_AS(Player(diamond_square_source(), {{"size", std::vector<double>{10.5, 10}}}), Error);
  CHECK_THROWS_AS(Player(diamond_square_source(), {{"exponent", number(3)}}), Error);
}

TEST_CASE("the diamond square source gives a new field a frame, as grey, colours and heights") {
  const test::Settings size{{"size", std::vector<double>{70, 41}}, {"seed", number(9)}};
  test::Settings colours = size;
  colours.emplace_back("fields", number(3));
  Player player(diamond_square_source(), size), coloured(diamond_square_source(), colours);
  player.play();
  coloured.play();
  const std::vector<std::byte> first = player.bits();
  player.play();
  CHECK(first != player.bits());
  const test::TestImage expected({.width = 70, .height = 41, .channels = 1});
  diamond_square({.seed = 10}, expected.view);
  int wrong = 0;
  for (int y = 0; y < 41; ++y)
    for (int x = 0; x < 70; ++x) {
      const std::uint8_t height = expected.at<std::uint8_t>(x, y);
      for (int c = 0; c < 3; ++c) wrong += player.pixel(x, y)[c] != height ? 1 : 0;
      wrong += player.input.maps.row<std::uint8_t>(y)[x] != height ? 1 : 0;
      for (int c = 0; c < 3; ++c)
        wrong += coloured.pixel(x, y)[c] != coloured.input.maps.row<std::uint8_t>(y, c)[x] ? 1 : 0;
    }
  CHECK(wrong == 0);
  for (const char* type : {"uint16", "float32"}) {
    test::Settings deep = size;
    deep.emplace_back("number_type", std::string(type));
    deep.emplace_back("deliver", std::string("frame"));
    const Player frame = Player(diamond_square_source(), deep).play();
    CHECK_FALSE(frame.source->format().maps.has_value());
    CHECK(frame.pixel(3, 3)[3] == 255);
  }
}
