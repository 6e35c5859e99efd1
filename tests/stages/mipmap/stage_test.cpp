// Sizes, exact averages, the atlas and what the mipmap stage promises. Every case of the stage runs on CUDA
// too where a device answers.
#include "stages/mipmap/chain.h"

#include "base/error.h"
#include "tests/stages/mipmap/reference.h"

using namespace contorno;
using namespace contorno::test;

TEST_CASE("mipmap levels have the sizes of floor, ceil and round") {
  const auto widths = [](int width, int height, int divisor, LevelSizes sizes, int stop) {
    std::vector<int> all;
    for (const LevelBox& box : level_sizes(width, height, divisor, sizes, stop)) all.push_back(box.width);
    return all;
  };
  CHECK(widths(2048, 1024, 2, LevelSizes::Floor, 32) == std::vector<int>{2048, 1024, 512, 256, 128, 64});
  CHECK(widths(8916, 4096, 2, LevelSizes::Floor, 32) ==
        std::vector<int>{8916, 4458, 2229, 1114, 557, 278, 139, 69});
  CHECK(widths(9, 5, 2, LevelSizes::Floor, 1) == std::vector<int>{9, 4, 2, 1});
  CHECK(widths(9, 5, 2, LevelSizes::Ceil, 1) == std::vector<int>{9, 5, 3, 2, 1});
  CHECK(widths(100, 90, 3, LevelSizes::Floor, 2) == std::vector<int>{100, 33, 11, 3, 1});
  CHECK(widths(100, 90, 3, LevelSizes::Round, 2) == std::vector<int>{100, 33, 11, 4, 1});
  CHECK(widths(4096, 32, 2, LevelSizes::Floor, 32).size() == 1);
  CHECK(widths(4096, 32, 2, LevelSizes::Floor, 1).size() == 13);
  CHECK(widths(1, 1, 2, LevelSizes::Floor, 1).size() == 1);
}

TEST_CASE("box averages are exact areas, rounded half up, for every size, channel and layout") {
  for (const LevelSizes sizes : {LevelSizes::Floor, LevelSizes::Ceil})
    for (const auto& [width, height] : kSizes) {
      const Settings settings{{"stop", std::int64_t{1}},
                              {"sizes", std::string(sizes == LevelSizes::Floor ? "floor" : "ceil")}};
      const int count = static_cast<int>(level_sizes(width, height, 2, sizes, 1).size());
      for (int channels = 1; channels <= 4; ++channels) {
        const Layout layout = (width + channels) % 3 == 0 ? Layout::Planar : Layout::Interleaved;
        INFO(width, "x", height, "x", channels, " ", std::string(name_of(layout)));
        const TestImage bytes = random_image<std::uint8_t>(width, height, channels, 1, 3, layout);
        const auto levels = run_levels(bytes.view, settings, count, 1 + channels % 3);
        for (int level = 1; level < count; ++level)
          CHECK(wrong_box_samples<std::uint8_t>(levels[static_cast<std::size_t>(level) - 1]->image(),
                                                levels[static_cast<std::size_t>(level)]->image()) == 0);
        const TestImage words = random_image<std::uint16_t>(width, height, channels, 2, 6, layout);
        StageHarness first(mipmap_stage(),
                           {settings[0], settings[1], {"level", std::int64_t{count > 1 ? 1 : 0}}});
        first.threads(2).run({words.view});
        CHECK(wrong_box_samples<std::uint16_t>(words.view, first.image()) == 0);
      }
    }
}

TEST_CASE("long, narrow and large images go down to one pixel by exact areas") {
  for (const auto& [width, height] : {std::pair{128, 32}, std::pair{4096, 32}, std::pair{32, 4096},
                                      std::pair{8916, 96}, std::pair{1, 5000}}) {
    const TestImage in = random_image<std::uint8_t>(width, height, 4, 22, 4);
    const Mipmaps all = mipmaps(in.view, {.stop = 1}, 2);
    CHECK(all.levels.back().format.width == 1);
    CHECK(all.levels.back().format.height == 1);
    int wrong = 0;
    for (std::size_t level = 1; level < all.levels.size(); ++level) {
      const ImageView &from = all.levels[level - 1], &to = all.levels[level];
      const auto n = std::uint64_t(from.format.width), m = std::uint64_t(to.format.width);
      const auto r = std::uint64_t(from.format.height), q = std::uint64_t(to.format.height);
      // Share of [i, i + 1) in output o, in units of 1 / outputs.
      const auto share = [](std::uint64_t i, std::uint64_t o, std::uint64_t inputs, std::uint64_t outputs) {
        const std::uint64_t begin = std::max(i * outputs, o * inputs);
        const std::uint64_t end = std::min((i + 1) * outputs, (o + 1) * inputs);
        return end > begin ? end - begin : 0;
      };
      for (std::uint64_t y = 0; y < q; ++y)
        for (std::uint64_t x = 0; x < m; ++x)
          for (int c = 0; c < 4; ++c) {
            std::uint64_t sum = 0;
            for (std::uint64_t v = y * r / q; v * q < (y + 1) * r; ++v)
              for (std::uint64_t u = x * n / m; u * m < (x + 1) * n; ++u)
                sum += share(v, y, r, q) * share(u, x, n, m) * sample<std::uint8_t>(from, int(u), int(v), c);
            wrong += sample<std::uint8_t>(to, int(x), int(y), c) != rounded(sum, n * r);
          }
    }
    INFO(width, "x", height);
    CHECK(wrong == 0);
  }
}

TEST_CASE("floats are averaged to float precision, and NaN stays within its pixel") {
  TestImage in = random_image<float>(67, 41, 3, 3, 8);
  in.at<float>(20, 10, 1) = std::nanf("");
  StageHarness harness(mipmap_stage(), {{"level", std::int64_t{1}}, {"stop", std::int64_t{1}}});
  harness.run({in.view});
  int nans = 0;
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 33; ++x)
      for (int c = 0; c < 3; ++c) {
        double sum = 0, weight = 0;
        for (int v = 0; v < 41; ++v)
          for (int u = 0; u < 67; ++u) {
            const double w =
                std::max(0.0, std::min(u + 1.0, (x + 1) * 67 / 33.0) - std::max(1.0 * u, x * 67 / 33.0));
            const double h =
                std::max(0.0, std::min(v + 1.0, (y + 1) * 41 / 20.0) - std::max(1.0 * v, y * 41 / 20.0));
            if (w * h > 1e-12) sum += w * h * in.at<float>(u, v, c), weight += w * h;
          }
        const auto value = harness.at<float>(x, y, c);
        nans += std::isnan(sum) ? 1 : 0;
        CHECK(std::isnan(value) == std::isnan(sum));
        if (!std::isnan(sum)) CHECK(std::fabs(value - sum / weight) < 1e-6);
      }
  CHECK(nans >= 1);
  CHECK(nans <= 4);
}

TEST_CASE("the paper's rule is the mean of a square whose coordinates are limited to the image") {
  for (const auto& [width, height] : kSizes)
    for (const int side : {2, 3, 4, 7, kMostMipmapWidth})
      for (const bool up : {false, true}) {
        const TestImage in = random_image<std::uint8_t>(width, height, 4, 4, 3);
        StageHarness harness(mipmap_stage(), {{"filter", std::string("clamp")},
                                              {"width", std::int64_t{side}},
                                              {"sizes", std::string(up ? "ceil" : "floor")},
                                              {"stop", std::int64_t{1}},
                                              {"level", std::int64_t{width * height > 1 ? 1 : 0}}});
        harness.threads(2).run({in.view});
        int wrong = 0;
        for (int y = 0; width * height > 1 && y < harness.image().format.height; ++y)
          for (int x = 0; x < harness.image().format.width; ++x)
            for (int c = 0; c < 4; ++c) {
              int sum = 0;
              for (int j = 0; j < side * side; ++j)
                sum += in.at<std::uint8_t>(std::min(side * x + j % side, width - 1),
                                           std::min(side * y + j / side, height - 1), c);
              wrong += harness.at<std::uint8_t>(x, y, c) != (2 * sum + side * side) / (2 * side * side);
            }
        INFO(width, "x", height, " by ", side);
        CHECK(wrong == 0);
        CHECK(harness.image().format.width ==
              (width * height == 1 ? 1 : std::max(1, up ? (width + side - 1) / side : width / side)));
      }
}

TEST_CASE("high_precision rounds once, however many levels there are") {
  const TestImage in = random_image<std::uint8_t>(64, 64, 3, 13, 1);
  for (const std::string filter : {"box", "clamp"}) {
    StageHarness harness(mipmap_stage(), {{"level", std::int64_t{6}},
                                          {"stop", std::int64_t{1}},
                                          {"filter", filter},
                                          {"high_precision", true}});
    harness.threads(2).run({in.view});
    for (int c = 0; c < 3; ++c) {
      double sum = 0;
      for (int i = 0; i < 64 * 64; ++i) sum += in.at<std::uint8_t>(i % 64, i / 64, c);
      CHECK(std::fabs(harness.at<std::uint8_t>(0, 0, c) - sum / 4096) <= 0.5);
    }
  }
  // Rounding each level instead drifts: 85 and 86 in a pattern whose mean is 85.25 end one too high.
  const TestImage drifting =
      filled_image<std::uint8_t>({.width = 64, .height = 64, .channels = 1}, [](int x, int y, int) {
        const int levels = ((x & 1) != 0 && (y & 1) != 0 ? 1 : 0) + ((x & 2) != 0 && (y & 2) != 0 ? 1 : 0);
        return 85 + levels * 2;
      });
  StageHarness once(mipmap_stage(),
                    {{"level", std::int64_t{6}}, {"stop", std::int64_t{1}}, {"high_precision", true}});
  once.run({drifting.view});
  CHECK(once.at<std::uint8_t>(0, 0) == 86);
  StageHarness often(mipmap_stage(), {{"level", std::int64_t{6}}, {"stop", std::int64_t{1}}});
  often.run({drifting.view});
  CHECK(often.at<std::uint8_t>(0, 0) == 87);
}

TEST_CASE("all options give the same bits for any number of threads, any stride and any SIMD") {
  for (const std::string filter : {"box", "clamp", "lanczos3"})
    for (const int options : {0, 1, 2, 3, 4, 5, 7}) {
      const Settings settings{{"filter", filter},
                              {"stop", std::int64_t{1}},
                              {"linear_light", (options & 1) != 0},
                              {"premultiplied", (options & 2) != 0},
                              {"high_precision", (options & 4) != 0}};
      const TestImage tight = random_image<std::uint8_t>(96, 68, 4, 14),
                      loose = random_image<std::uint8_t>(96, 68, 4, 14, 7);
      StageHarness one(mipmap_stage(), settings);
      one.run({tight.view});
      for (const int threads : {2, 3}) {
        StageHarness many(mipmap_stage(), settings);
        many.threads(threads).output_row_extra(3).run({loose.view});
        CHECK(many.bytes() == one.bytes());
      }
    }
}

namespace {

/// All levels with each SIMD of this machine, by two threads, in rows that are `row_extra` bytes too long.
std::vector<std::vector<std::byte>> levels_by_simd(const ImageView& image, const MipmapOptions& options,
                                                   std::ptrdiff_t row_extra = 0) {
  const MipmapChain chain(image.format, options);
  const Block scratch(chain.scratch_bytes(2) + 1, MemoryKind::Host);
  std::vector<std::vector<std::byte>> results;
  for (const Simd simd : {Simd::Portable, Simd::Avx2, Simd::Avx512}) {
    if (simd > best_simd()) continue;
    Guarded block(2 * chain.bytes());
    std::vector<ImageView> views;
    for (int level = 1; level < chain.levels(); ++level) {
      views.push_back(chain.level_in(block.data() + chain.offset(level), level));
      views.back().row_pitch += row_extra;
    }
    chain.build(image, views, scratch.data(), 2, simd);
    CHECK(block.intact());
    results.emplace_back(block.data(), block.data() + block.size());
  }
  return results;
}

}  // namespace

TEST_CASE("every SIMD of this machine gives the same bits as the portable code") {
  for (const int channels : {1, 2, 3, 4})
    for (const Layout layout : {Layout::Interleaved, Layout::Planar})
      for (const int options : {0, 1, 2, 3, 4})
        for (const int height : {8, 44})
          for (const int width : {1, 2, 30, 64, 130, 254, 258, 1030}) {
            const bool alpha = layout == Layout::Interleaved && channels % 2 == 0;
            if ((options & 2) != 0 && !alpha) continue;
            const TestImage in = random_image<std::uint8_t>(width, height, channels, 15, 5, layout);
            const MipmapOptions all{.filter = (options & 4) != 0 ? MipmapFilter::Clamp : MipmapFilter::Box,
                                    .stop = 1,
                                    .linear_light = (options & 1) != 0,
                                    .premultiplied = (options & 2) != 0};
            const auto results = levels_by_simd(in.view, all);
            for (const auto& result : results) CHECK(result == results[0]);
          }
}

TEST_CASE("levels that no cache keeps have the same bits, in rows of any length") {
  for (const int channels : {1, 4}) {
    const TestImage in = random_image<std::uint8_t>(16400 / channels, 1040, channels, 16);
    for (const std::ptrdiff_t row_extra : {0, 4}) {
      const auto results = levels_by_simd(in.view, {.stop = 8}, row_extra);
      for (const auto& result : results) CHECK(result == results[0]);
    }
  }
}

TEST_CASE("every pair of codes has the same mean in light with any SIMD") {
  for (const int channels : {1, 2, 3, 4}) {
    TestImage in(ImageFormat{.width = 512, .height = 512, .channels = channels});
    for (int y = 0; y < 512; ++y)
      for (int x = 0; x < 512; ++x)
        for (int c = 0; c < channels; ++c)
          in.at<std::uint8_t>(x, y, c) = static_cast<std::uint8_t>((x ^ y) & 1 ? x / 2 : y / 2);
    const auto results = levels_by_simd(in.view, {.stop = 256, .linear_light = true});
    for (const auto& result : results) CHECK(result == results[0]);
  }
}

TEST_CASE("the whole chain lies side by side in one image, with nothing else in it") {
  for (const auto& [width, height] :
       {std::pair{67, 131}, std::pair{1, 40}, std::pair{40, 1}, std::pair{1, 1}, std::pair{256, 32}}) {
    const TestImage in = random_image<std::uint8_t>(width, height, 3, 16, 2);
    StageHarness all(mipmap_stage(), {{"stop", std::int64_t{1}}});
    all.run({in.view});
    const ImageView& atlas = all.image();
    REQUIRE(holds_levels(atlas.format));
    const auto boxes = level_boxes(atlas.format.atlas);
    std::vector<int> covered(static_cast<std::size_t>(atlas.format.width * atlas.format.height), 0);
    const auto cover = [&](const LevelBox& box) {
      for (int y = box.y; y < box.y + box.height; ++y)
        for (int x = box.x; x < box.x + box.width; ++x)
          ++covered[static_cast<std::size_t>(y * atlas.format.width + x)];
    };
    for (const LevelBox& box : boxes) cover(box);
    for (const LevelBox& box : free_boxes(boxes, atlas.format.width, atlas.format.height)) {
      cover(box);
      for (int y = box.y; y < box.y + box.height; ++y)
        for (int k = box.x * 3; k < (box.x + box.width) * 3; ++k) CHECK(atlas.row<std::uint8_t>(y)[k] == 0);
    }
    CHECK(std::all_of(covered.begin(), covered.end(), [](int times) { return times == 1; }));
    const auto levels = run_levels(in.view, {{"stop", std::int64_t{1}}}, static_cast<int>(boxes.size()));
    for (std::size_t level = 0; level < boxes.size(); ++level) {
      const ImageView view = level_view(atlas, boxes[level]);
      CHECK(same_image(view, levels[level]->image()));
    }
  }
}

TEST_CASE("class maps give the same levels whether they are interleaved or planar") {
  for (const int classes : {5, 8})
    for (const std::string filter : {"box", "mitchell"})
      for (const bool precise : {false, true}) {
        const Settings settings{{"stop", std::int64_t{1}},
                                {"level", std::int64_t{2}},
                                {"filter", filter},
                                {"high_precision", precise}};
        const TestImage mixed = random_image<std::uint8_t>(66, 35, classes, 19, 3);
        TestImage apart(
            ImageFormat{.width = 66, .height = 35, .channels = classes, .layout = Layout::Planar});
        for (int y = 0; y < 35; ++y)
          for (int x = 0; x < 66; ++x)
            for (int k = 0; k < classes; ++k)
              apart.at<std::uint8_t>(x, y, k) = mixed.at<std::uint8_t>(x, y, k);
        StageHarness one(mipmap_stage(), settings), other(mipmap_stage(), settings);
        one.threads(2).output_row_extra(3).run({mixed.view}), other.run({apart.view});
        int wrong = 0;
        for (int y = 0; y < 8; ++y)
          for (int x = 0; x < 16; ++x)
            for (int k = 0; k < classes; ++k)
              wrong += one.at<std::uint8_t>(x, y, k) != other.at<std::uint8_t>(x, y, k);
        CHECK(wrong == 0);
      }
}

TEST_CASE("a level knows its place on the frame") {
  const TestImage in = random_image<std::uint8_t>(67, 40, 1, 17);
  StageHarness box(mipmap_stage(), {{"level", std::int64_t{2}}, {"stop", std::int64_t{1}}});
  box.run({in.view});
  CHECK(box.image().format.placement.scale_x == doctest::Approx(67.0 / 16));
  CHECK(box.image().format.placement.scale_y == doctest::Approx(4));
  CHECK(box.image().format.placement.frame_x(15.5) == doctest::Approx(66.5));
  StageHarness clamp(
      mipmap_stage(),
      {{"level", std::int64_t{2}}, {"stop", std::int64_t{1}}, {"filter", std::string("clamp")}});
  clamp.run({in.view});
  CHECK(clamp.image().format.placement.scale_x == 4);
}

TEST_CASE("mipmaps gives the levels of a stage in one call") {
  const TestImage in = random_image<std::uint8_t>(70, 66, 4, 18, 2);
  const Mipmaps all = mipmaps(in.view, {.stop = 8, .linear_light = true}, 2);
  const auto levels = run_levels(in.view, {{"stop", std::int64_t{8}}, {"linear_light", true}}, 4);
  REQUIRE(all.levels.size() == 4);
  CHECK(all.levels[0].data == in.view.data);
  for (std::size_t level = 0; level < levels.size(); ++level)
    CHECK(same_image(all.levels[level], levels[level]->image()));
}

TEST_CASE("mipmap refuses what it cannot do, and says what it can") {
  const auto message = [](const ImageFormat& format, const Settings& settings) -> std::string {
    TestImage in(format);
    StageHarness harness(mipmap_stage(), settings);
    try {
      harness.run({in.view});
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::BadConfig);
      return error.what();
    }
    return {};
  };
  const ImageFormat rgb{.width = 67, .height = 31, .channels = 3};
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(has(message(rgb, {{"level", std::int64_t{1}}}), "levels 0 to 0 with stop: 32"));
  CHECK(has(message(rgb, {{"premultiplied", true}}), "alpha"));
  CHECK(has(message(rgb, {{"width", std::int64_t{3}}}), "filter: clamp"));
  ImageFormat other = rgb;
  other.type = ElementType::F64;
  CHECK(has(message(other, {}), "allowed uint8, uint16 and float32"));
  other.type = ElementType::F32;
  CHECK(has(message(other, {{"linear_light", true}}), "light already"));
  other = rgb, other.channels = 5;
  CHECK(has(message(other, {{"premultiplied", true}}), "alpha"));
}
