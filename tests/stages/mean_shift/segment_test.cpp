// Segmentation against flood fill and merging written differently, on top of the filter's own climbs.
#include <doctest/doctest.h>

#include <map>
#include <set>

#include "base/error.h"
#include "stages/mean_shift/climber.h"
#include "stages/mean_shift/segment.h"
#include "tests/stages/harness.h"

using namespace contorno;
using namespace contorno::test;

namespace {

TestImage blotches(int width, int height, int channels, unsigned seed, std::size_t extra = 0) {
  TestImage image({.width = width, .height = height, .channels = channels}, extra);
  Random random(seed);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const int speck = random.below(9) == 0 ? random.below(120) : 0;
      for (int c = 0; c < channels; ++c)
        image.at<std::uint8_t>(x, y, c) = static_cast<std::uint8_t>(
            (((x / 11 + y / 8) % 3) * 70 + c * 15 + speck + random.below(12)) % 256);
    }
  return image;
}

Settings segment_settings(int spatial, double colour, int min_region, const char* space = "rgb") {
  return {{"spatial", std::int64_t{spatial}},
          {"colour", colour},
          {"min_region", std::int64_t{min_region}},
          {"space", std::string(space)}};
}

float label_at(const StageHarness& harness, int x, int y) {
  return harness.image(1).row<float>(y)[x];
}

using Region = std::set<int>;

/// Flood fill over the ends of the climbs, then rounds of merging, with sets of pixels.
std::vector<int> naive_labels(const TestImage& image, const MeanShiftSegmentParams& params) {
  const ImageFormat& format = image.view.format;
  const int width = format.width, height = format.height;
  const MeanShiftImagePlan plan = make_mean_shift_segment_plan(params, format);
  std::vector<std::uint16_t> scratch(ImageClimber::scratch_bytes(plan) / 2);
  ImageClimber climber(plan, Simd::Portable);
  climber.load(image.view, scratch.data(), 1);
  std::vector<ShiftState> ends;
  for (int i = 0; i < width * height; ++i) ends.push_back(climber.climb(i % width, i / width).state);
  const auto neighbours = [&](int i) {
    std::vector<int> list;
    if (i % width > 0) list.push_back(i - 1);
    if (i % width < width - 1) list.push_back(i + 1);
    if (i >= width) list.push_back(i - width);
    if (i < width * (height - 1)) list.push_back(i + width);
    return list;
  };
  const auto joined = [&](int a, int b) {
    const ShiftState &p = ends[static_cast<std::size_t>(a)], &q = ends[static_cast<std::size_t>(b)];
    double colour = 0;
    for (int k = 0; k < 3; ++k) colour += (p.c[k] - q.c[k]) * (p.c[k] - q.c[k]);
    return (p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y) <= params.spatial * params.spatial &&
           colour <= plan.window.limit;
  };
  std::vector<int> label(static_cast<std::size_t>(width * height), -1);
  std::vector<Region> regions;
  for (int i = 0; i < width * height; ++i) {
    if (label[static_cast<std::size_t>(i)] >= 0) continue;
    const int number = static_cast<int>(regions.size());
    Region region;
    std::vector<int> open{i};
    label[static_cast<std::size_t>(i)] = number;
    while (!open.empty()) {
      const int at = open.back();
      open.pop_back();
      region.insert(at);
      for (const int n : neighbours(at))
        if (label[static_cast<std::size_t>(n)] < 0 && joined(at, n))
          label[static_cast<std::size_t>(n)] = number, open.push_back(n);
    }
    regions.push_back(region);
  }
  for (;;) {
    const auto mean = [&](const Region& region, int k) {
      float sum = 0;
      for (const int i : region)
        sum += static_cast<float>(climber.place(i % width, i / width) >> (8 * k) & 255U);
      return sum / static_cast<float>(region.size());
    };
    std::map<int, int> joins;
    for (std::size_t r = 0; r < regions.size(); ++r) {
      if (static_cast<int>(regions[r].size()) >= params.min_region) continue;
      std::set<int> around;
      for (const int i : regions[r])
        for (const int n : neighbours(i))
          if (label[static_cast<std::size_t>(n)] != static_cast<int>(r))
            around.insert(label[static_cast<std::size_t>(n)]);
      float least = 1e30F;
      for (const int other : around) {
        float square = 0;
        for (int k = 0; k < 3; ++k) {
          const float away = mean(regions[r], k) - mean(regions[static_cast<std::size_t>(other)], k);
          square += away * away;
        }
        if (square < least) least = square, joins[static_cast<int>(r)] = other;
      }
    }
    if (joins.empty()) break;
    // Spread the smallest number along the joins until nothing changes.
    std::vector<int> number(regions.size());
    for (std::size_t r = 0; r < regions.size(); ++r) number[r] = static_cast<int>(r);
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [from, to] : joins) {
        int &a = number[static_cast<std::size_t>(from)], &b = number[static_cast<std::size_t>(to)];
        if (a != b) a = b = std::min(a, b), changed = true;
      }
    }
    std::map<int, Region> united;
    for (std::size_t r = 0; r < regions.size(); ++r)
      united[number[r]].insert(regions[r].begin(), regions[r].end());
    regions.clear();
    for (auto& [first, region] : united) regions.push_back(region);
    std::sort(regions.begin(), regions.end(),
              [](const Region& a, const Region& b) { return *a.begin() < *b.begin(); });
    for (std::size_t r = 0; r < regions.size(); ++r)
      for (const int i : regions[r]) label[static_cast<std::size_t>(i)] = static_cast<int>(r);
  }
  return label;
}

}  // namespace

TEST_CASE("the segments of a clean image of four regions are its regions") {
  TestImage in({.width = 64, .height = 48, .channels = 3});
  const int colours[4][3] = {{200, 40, 40}, {40, 200, 40}, {40, 40, 200}, {220, 220, 60}};
  const auto region = [](int x, int y) { return (x < 30 ? 0 : 1) + (y < 20 ? 0 : 2); };
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 64; ++x)
      for (int c = 0; c < 3; ++c)
        in.at<std::uint8_t>(x, y, c) = static_cast<std::uint8_t>(colours[region(x, y)][c]);
  for (const char* space : {"rgb", "luv", "lab"}) {
    StageHarness harness(mean_shift_segment_stage(), segment_settings(7, 20, 20, space));
    harness.threads(2).run({in.view});
    int wrong = 0;
    for (int y = 0; y < 48; ++y)
      for (int x = 0; x < 64; ++x)
        if (label_at(harness, x, y) != static_cast<float>(region(x, y))) ++wrong;
    CHECK(wrong == 0);
    CHECK(std::memcmp(harness.bytes(0).data(), in.view.data, 64 * 48 * 3) == 0);
  }
}

TEST_CASE("mean_shift_segment equals flood fill and merging written with sets") {
  for (const auto& [width, height, channels, min_region] :
       {std::array{1, 1, 3, 5}, std::array{29, 23, 3, 12}, std::array{40, 17, 1, 6},
        std::array{33, 31, 4, 40}, std::array{31, 8, 3, 1}, std::array{24, 24, 3, 100000}})
    for (const char* space : {"rgb", "luv"}) {
      const TestImage in = blotches(width, height, channels, 3);
      StageHarness harness(mean_shift_segment_stage(), segment_settings(4, 18, min_region, space));
      harness.run({in.view});
      const auto expected = naive_labels(in, harness.params().as<MeanShiftSegmentParams>());
      int wrong = 0;
      std::map<int, std::array<double, 4>> sums;
      for (int i = 0; i < width * height; ++i) {
        if (label_at(harness, i % width, i / width) !=
            static_cast<float>(expected[static_cast<std::size_t>(i)]))
          ++wrong;
        auto& sum = sums[expected[static_cast<std::size_t>(i)]];
        sum[3] += 1;
        for (int k = 0; k < std::min(3, channels); ++k)
          sum[static_cast<std::size_t>(k)] += in.at<std::uint8_t>(i % width, i / width, k);
      }
      CHECK(wrong == 0);
      const ImageView& image = harness.image(0);
      for (int i = 0; i < width * height; ++i)
        for (int k = 0; k < channels; ++k) {
          const auto& sum = sums[expected[static_cast<std::size_t>(i)]];
          const int value = image.row<std::uint8_t>(i / width)[i % width * channels + k];
          const double mean = k < 3 ? std::floor(sum[static_cast<std::size_t>(k)] / sum[3] + 0.5)
                                    : in.at<std::uint8_t>(i % width, i / width, 3);
          if (value != mean) ++wrong;
        }
      CHECK(wrong == 0);
    }
}

TEST_CASE("mean_shift_segment gives the same bytes for any number of threads and any stride") {
  const TestImage tight = blotches(67, 41, 3, 8), loose = blotches(67, 41, 3, 8, 13);
  StageHarness one(mean_shift_segment_stage(), segment_settings(5, 20, 30));
  one.run({tight.view});
  for (const int threads : {2, 3}) {
    StageHarness many(mean_shift_segment_stage(), segment_settings(5, 20, 30));
    many.threads(threads).output_row_extra(12).run({loose.view});
    CHECK(many.bytes() == one.bytes());
    CHECK(many.bytes(1) == one.bytes(1));
  }
}

TEST_CASE("mean_shift_segment refuses more pixels than its labels can number") {
  const ImageFormat format{.width = 8192, .height = 4096, .channels = 3};
  CHECK_THROWS_AS(make_mean_shift_segment_plan({}, format), Error);
}
