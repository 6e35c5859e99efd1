#include "stages/morphology/stage.h"

#include <cmath>

#include "base/error.h"
#include "tests/stages/harness.h"
#include "tests/stages/morphology/reference.h"

using namespace contorno;
using namespace contorno::test;

namespace {

StructuringElement random_element(int width, int height, Random& random) {
  Mask mask{width, height, {}};
  for (int i = 0; i < width * height; ++i) mask.values.push_back(random.below(3) == 0 ? 1 : 0);
  mask.values[static_cast<std::size_t>(random.below(width * height))] = 1;
  return StructuringElement::from_mask(mask).with_anchor(random.below(width), random.below(height));
}

StructuringElement with_random_heights(const StructuringElement& element, double most, bool whole,
                                       Random& random) {
  std::vector<double> heights;
  for (int i = 0; i < element.width() * element.height(); ++i) {
    const double height = (2 * random.unit() - 1) * most;
    heights.push_back(whole ? std::round(height) : height);
  }
  return element.with_heights(heights);
}

struct Named {
  const char* name;
  StructuringElement element;
};

std::vector<Named> elements() {
  using E = StructuringElement;
  Random random(77);
  return {{"1x1", E::rectangle(1, 1)},
          {"3x3", E::rectangle(3, 3)},
          {"2x2", E::rectangle(2, 2)},
          {"4x7", E::rectangle(4, 7)},
          {"11x1", E::rectangle(11, 1)},
          {"1x9", E::rectangle(1, 9)},
          {"19x23", E::rectangle(19, 23).with_anchor(0, 22)},
          {"cross", E::cross(5, 4)},
          {"ellipse", E::ellipse(9, 7)},
          {"disk", E::disk(8)},
          {"diamond", E::diamond(7, 7)},
          {"octagon", E::octagon(9, 9)},
          {"line", E::line(9, 30)},
          {"far anchor", E::rectangle(3, 2).with_anchor(2, 0)},
          {"without its origin", E::from_mask({5, 3, {1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1}})},
          {"random", random_element(7, 6, random)},
          {"random", random_element(12, 5, random)}};
}

template <class T>
TestImage run(MorphologyOperation operation, const TestImage& in, const StructuringElement& element,
              const MorphologyOptions& options = {}, const MorphologyExecution& execution = {},
              std::size_t row_extra = 0) {
  TestImage out(in.view.format, row_extra, row_extra);
  apply_morphology(operation, in.view, element, out.view, options, execution);
  CHECK(out.memory.intact());
  return out;
}

template <class T>
void compare_with_definition(const ImageFormat& format, const StructuringElement& element,
                             const MorphologyOptions& options, std::uint64_t seed) {
  const TestImage in = picture<T>(format, seed, 3 * sizeof(T));
  const Reference reference(in.view.format.type, options);
  for (const MorphologyOperation operation : kOperations) {
    const TestImage out = run<T>(operation, in, element, options, {.threads = 2}, 5 * sizeof(T));
    for (int c = 0; c < format.channels; ++c) {
      const Reference::Plane f = plane_of<T>(in, c);
      const bool alpha = c == 3 && options.alpha == AlphaRule::Keep && format.layout == Layout::Interleaved;
      INFO("operation ", static_cast<int>(operation), ", channel ", c, ", ", describe(in.view.format));
      if (alpha) {
        int different = 0;
        for (int y = 0; y < format.height; ++y)
          for (int x = 0; x < format.width; ++x)
            different += std::memcmp(&out.at<T>(x, y, c), &in.at<T>(x, y, c), sizeof(T)) != 0 ? 1 : 0;
        CHECK(different == 0);
      } else {
        CHECK(differences<T>(out, c, reference.apply(operation, f, element)) == 0);
      }
    }
  }
}

bool leq(const TestImage& a, const TestImage& b) {
  const ImageFormat& format = a.view.format;
  for (int y = 0; y < format.height; ++y)
    for (int x = 0; x < format.width; ++x)
      for (int c = 0; c < format.channels; ++c)
        if (a.at<std::uint8_t>(x, y, c) > b.at<std::uint8_t>(x, y, c)) return false;
  return true;
}

}  // namespace

TEST_CASE("morphology computes its definitions for every element, type and layout") {
  for (const Named& named : elements()) {
    INFO("element ", named.name);
    compare_with_definition<std::uint8_t>({.width = 33, .height = 14, .channels = 3}, named.element, {}, 1);
    compare_with_definition<std::uint16_t>({.width = 19, .height = 17, .channels = 1}, named.element, {}, 2);
    compare_with_definition<float>({.width = 13, .height = 16, .channels = 2, .layout = Layout::Planar},
                                   named.element, {}, 3);
  }
}

TEST_CASE("morphology computes its definitions on images smaller than the element") {
  for (const Named& named : elements())
    for (const auto& [width, height] : {std::pair{1, 1}, std::pair{1, 7}, std::pair{6, 1}, std::pair{3, 2}}) {
      INFO("element ", named.name, " on ", width, "x", height);
      compare_with_definition<std::uint8_t>({.width = width, .height = height, .channels = 1}, named.element,
                                            {}, 4);
      compare_with_definition<float>({.width = width, .height = height, .channels = 1}, named.element, {}, 5);
    }
}

TEST_CASE("morphology takes every border") {
  const StructuringElement asymmetric = StructuringElement::rectangle(6, 4).with_anchor(1, 3);
  for (const MorphologyBorder border :
       {MorphologyBorder::Replicate, MorphologyBorder::Reflect, MorphologyBorder::Reflect101,
        MorphologyBorder::Wrap, MorphologyBorder::Constant})
    for (const StructuringElement& element : {asymmetric, StructuringElement::ellipse(7, 9)}) {
      const MorphologyOptions options{.border = border, .border_value = 100};
      compare_with_definition<std::uint8_t>({.width = 21, .height = 11, .channels = 3}, element, options, 6);
      compare_with_definition<std::uint16_t>({.width = 2, .height = 3, .channels = 1}, element, options, 7);
      compare_with_definition<float>({.width = 1, .height = 5, .channels = 1}, element, options, 8);
    }
}

TEST_CASE("morphology with heights saturates every sum to the samples' range") {
  Random random(5);
  for (const Named& named : elements())
    for (const ErosionHeights sign : {ErosionHeights::Subtracted, ErosionHeights::Added}) {
      INFO("element ", named.name);
      const MorphologyOptions options{.erosion_heights = sign};
      const auto high = [&](double most, bool whole) {
        return with_random_heights(named.element, most, whole, random);
      };
      compare_with_definition<std::uint8_t>({.width = 17, .height = 12, .channels = 1}, high(60, true),
                                            options, 9);
      compare_with_definition<std::uint8_t>({.width = 9, .height = 12, .channels = 3}, high(900, true),
                                            options, 10);
      compare_with_definition<std::uint16_t>({.width = 17, .height = 12, .channels = 1}, high(9000, true),
                                             options, 11);
      compare_with_definition<float>({.width = 17, .height = 12, .channels = 1}, high(0.4, false), options,
                                     12);
    }
  const MorphologyOptions constant{.border = MorphologyBorder::Constant, .border_value = 30};
  compare_with_definition<std::uint8_t>({.width = 17, .height = 12, .channels = 1},
                                        with_random_heights(StructuringElement::disk(5), 40, true, random),
                                        constant, 13);
}

TEST_CASE("morphology leaves alpha alone unless it is told to process it") {
  for (const AlphaRule alpha : {AlphaRule::Keep, AlphaRule::Process}) {
    const MorphologyOptions options{.alpha = alpha};
    compare_with_definition<std::uint8_t>({.width = 23, .height = 9, .channels = 4},
                                          StructuringElement::ellipse(5, 5), options, 14);
    compare_with_definition<std::uint16_t>({.width = 7, .height = 9, .channels = 4},
                                           StructuringElement::rectangle(2, 6), options, 15);
    compare_with_definition<float>({.width = 7, .height = 9, .channels = 4, .layout = Layout::Planar},
                                   StructuringElement::rectangle(3, 3), options, 16);
  }
}

TEST_CASE("morphology with opencv_compat does not turn the element for dilations") {
  const MorphologyOptions options{.dilation_element = DilationElement::AsGiven};
  for (const Named& named : elements())
    compare_with_definition<std::uint8_t>({.width = 18, .height = 11, .channels = 1}, named.element, options,
                                          17);
}

TEST_CASE("openings never brighten, closings never darken, and a second time changes nothing") {
  const TestImage f = picture<std::uint8_t>({.width = 75, .height = 41, .channels = 3}, 18);
  for (const Named& named : elements()) {
    INFO("element ", named.name);
    const TestImage opened = run<std::uint8_t>(MorphologyOperation::Opening, f, named.element);
    const TestImage closed = run<std::uint8_t>(MorphologyOperation::Closing, f, named.element);
    CHECK(leq(opened, f));
    CHECK(leq(f, closed));
    CHECK(same(run<std::uint8_t>(MorphologyOperation::Opening, opened, named.element), opened));
    CHECK(same(run<std::uint8_t>(MorphologyOperation::Closing, closed, named.element), closed));
  }
}

TEST_CASE("openings with heights never brighten either") {
  Random random(6);
  const TestImage f = picture<std::uint8_t>({.width = 40, .height = 30, .channels = 1}, 19);
  for (const Named& named : elements()) {
    const StructuringElement high = with_random_heights(named.element, 30, true, random);
    // Where sums saturate the law holds no more; the picture stays away from both ends here.
    TestImage middle(f.view.format);
    for (int y = 0; y < 30; ++y)
      for (int x = 0; x < 40; ++x)
        middle.at<std::uint8_t>(x, y) = static_cast<std::uint8_t>(100 + f.at<std::uint8_t>(x, y) / 8);
    CHECK(leq(run<std::uint8_t>(MorphologyOperation::Opening, middle, high), middle));
  }
}

TEST_CASE("erosion is the dual of dilation by the turned element, and both keep order") {
  const TestImage f = picture<std::uint8_t>({.width = 45, .height = 31, .channels = 3}, 20);
  TestImage complement(f.view.format), brighter(f.view.format);
  Random random(3);
  for (int y = 0; y < 31; ++y)
    for (int x = 0; x < 45 * 3; ++x) {
      const int v = f.view.row<std::uint8_t>(y)[x];
      complement.view.row<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(255 - v);
      brighter.view.row<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(std::min(255, v + random.below(20)));
    }
  for (const Named& named : elements()) {
    INFO("element ", named.name);
    const TestImage eroded = run<std::uint8_t>(MorphologyOperation::Erosion, f, named.element);
    TestImage dual = run<std::uint8_t>(MorphologyOperation::Dilation, complement, named.element.reflected());
    for (int y = 0; y < 31; ++y)
      for (int x = 0; x < 45 * 3; ++x) {
        auto& v = dual.view.row<std::uint8_t>(y)[x];
        v = static_cast<std::uint8_t>(255 - v);
      }
    CHECK(same(eroded, dual));
    for (const MorphologyOperation operation : {MorphologyOperation::Erosion, MorphologyOperation::Opening,
                                                MorphologyOperation::ClosingByReconstruction})
      CHECK(leq(run<std::uint8_t>(operation, f, named.element),
                run<std::uint8_t>(operation, brighter, named.element)));
  }
}

TEST_CASE("morphology moves with the image") {
  const TestImage f = picture<std::uint8_t>({.width = 64, .height = 48, .channels = 3}, 21);
  const TestImage moved = filled_image<std::uint8_t>(
      {.width = 64, .height = 48, .channels = 3},
      [&](int x, int y, int c) { return x >= 5 && y >= 7 ? f.at<std::uint8_t>(x - 5, y - 7, c) : 9; });
  const StructuringElement element = StructuringElement::ellipse(6, 9);
  const TestImage a = run<std::uint8_t>(MorphologyOperation::Opening, f, element);
  const TestImage b = run<std::uint8_t>(MorphologyOperation::Opening, moved, element);
  int different = 0;
  for (int y = 25; y < 38; ++y)
    for (int x = 20; x < 50; ++x)
      for (int c = 0; c < 3; ++c)
        different += b.at<std::uint8_t>(x, y, c) != a.at<std::uint8_t>(x - 5, y - 7, c) ? 1 : 0;
  CHECK(different == 0);
}

TEST_CASE("morphology gives the same bytes for any threads, instructions, stride and cut") {
  // Wide enough for several ranges of columns.
  const TestImage f = picture<std::uint8_t>({.width = 2100, .height = 130, .channels = 3}, 22);
  for (const StructuringElement& element :
       {StructuringElement::rectangle(51, 51), StructuringElement::rectangle(4, 6),
        StructuringElement::ellipse(41, 31), StructuringElement::line(60, 20)}) {
    const TestImage one =
        run<std::uint8_t>(MorphologyOperation::Opening, f, element, {}, {.simd = Simd::Portable});
    for (const int threads : {2, 3, 7})
      CHECK(same(one,
                 run<std::uint8_t>(MorphologyOperation::Opening, f, element, {}, {.threads = threads}, 13)));
    if (best_simd() >= Simd::Avx2)
      CHECK(same(one, run<std::uint8_t>(MorphologyOperation::Opening, f, element, {}, {.simd = Simd::Avx2})));
  }
}

TEST_CASE("large rectangles are what rows and columns make of them") {
  const TestImage f = picture<std::uint16_t>({.width = 700, .height = 300, .channels = 1}, 23);
  const TestImage at_once =
      run<std::uint16_t>(MorphologyOperation::Dilation, f, StructuringElement::rectangle(200, 61));
  const TestImage rows =
      run<std::uint16_t>(MorphologyOperation::Dilation, f, StructuringElement::rectangle(200, 1));
  CHECK(same(at_once,
             run<std::uint16_t>(MorphologyOperation::Dilation, rows, StructuringElement::rectangle(1, 61))));
}

TEST_CASE("hit_or_miss finds a pattern on binary images") {
  Random random(8);
  const TestImage f = filled_image<std::uint8_t>({.width = 40, .height = 30, .channels = 1},
                                                 [&](int, int, int) { return random.below(2) * 255; });
  StageHarness harness(hit_or_miss_stage(), {{"pattern", std::string("000 011 .1.")}});
  harness.run({f.view});
  const char* rows[] = {"000", "011", ".1."};
  int found = 0;
  for (int y = 0; y < 30; ++y)
    for (int x = 0; x < 40; ++x) {
      bool fits = true;
      for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) {
          const int u = x + i - 1, v = y + j - 1;
          if (rows[j][i] == '.' || u < 0 || v < 0 || u >= 40 || v >= 30) continue;
          fits &= f.at<std::uint8_t>(u, v) == (rows[j][i] == '1' ? 255 : 0);
        }
      CHECK(harness.at<std::uint8_t>(x, y) == (fits ? 255 : 0));
      found += fits ? 1 : 0;
    }
  CHECK(found > 5);
}

TEST_CASE("hit_or_miss takes the smaller of both erosions on grey images of every type") {
  const StructuringElement hit = StructuringElement::from_mask({3, 2, {1, 0, 0, 0, 1, 0}});
  const StructuringElement miss = StructuringElement::from_mask({3, 2, {0, 1, 1, 0, 0, 0}});
  const auto check = [&]<class T>(double full) {
    const TestImage f = picture<T>({.width = 29, .height = 13, .channels = 3}, 24);
    TestImage out(f.view.format);
    apply_hit_or_miss(f.view, hit, miss, out.view);
    const Reference reference(f.view.format.type);
    for (int c = 0; c < 3; ++c) {
      Reference::Plane plane = plane_of<T>(f, c);
      const Reference::Plane hits = reference.erode(plane, hit);
      for (auto& row : plane)
        for (double& v : row) v = static_cast<double>(static_cast<T>(full - v));
      Reference::Plane both = reference.erode(plane, miss);
      for (std::size_t y = 0; y < both.size(); ++y)
        for (std::size_t x = 0; x < both[y].size(); ++x)
          if (Level{hits[y][x]} < Level{both[y][x]}) both[y][x] = hits[y][x];
      CHECK(differences<T>(out, c, both) == 0);
    }
  };
  check.operator()<std::uint8_t>(255);
  check.operator()<std::uint16_t>(65535);
}

TEST_CASE("reconstruction reaches the fixed point of its definition") {
  const auto check = [&]<class T>(const ImageFormat& format, ReconstructionMethod method, Neighbours near,
                                  std::uint64_t seed) {
    const TestImage marker = picture<T>(format, seed, 3 * sizeof(T)), mask = picture<T>(format, seed + 100);
    TestImage out(marker.view.format, sizeof(T), sizeof(T));
    const MorphologyOptions options{.alpha = AlphaRule::Process, .neighbours = near};
    apply_reconstruction(method, marker.view, mask.view, out.view, options, {.threads = 2});
    const Reference reference(marker.view.format.type, options);
    for (int c = 0; c < format.channels; ++c)
      CHECK(differences<T>(out, c,
                           reference.reconstruct(plane_of<T>(marker, c), plane_of<T>(mask, c), method)) == 0);
  };
  for (const auto method : {ReconstructionMethod::Dilation, ReconstructionMethod::Erosion})
    for (const auto near : {Neighbours::Four, Neighbours::Eight})
      for (const auto& [width, height] : {std::pair{1, 1}, std::pair{1, 20}, std::pair{20, 1},
                                          std::pair{2, 2}, std::pair{31, 23}, std::pair{97, 61}}) {
        check.operator()<std::uint8_t>({.width = width, .height = height, .channels = 4}, method, near, 25);
        check.operator()<std::uint16_t>({.width = width, .height = height, .channels = 1}, method, near, 26);
        check.operator()<float>({.width = width, .height = height, .channels = 2, .layout = Layout::Planar},
                                method, near, 27);
      }
}

TEST_CASE("reconstruction spreads from few markers through noise") {
  // Paths of all heights meet everywhere: an order that raises pixels again and again does not end here.
  const auto check = [&]<class T>() {
    const ImageFormat format{.width = 150, .height = 110, .channels = 1};
    const TestImage mask = picture<T>(format, 30), marker = picture<T>(format, 31);
    for (int y = 0; y < format.height; ++y)
      for (int x = 0; x < format.width; ++x)
        if ((x * 31 + y * 17) % 977 != 0) marker.at<T>(x, y) = T{};
    TestImage out(marker.view.format);
    apply_reconstruction(ReconstructionMethod::Dilation, marker.view, mask.view, out.view, {},
                         {.threads = 3});
    const Reference reference(marker.view.format.type, {});
    const auto expected =
        reference.reconstruct(plane_of<T>(marker, 0), plane_of<T>(mask, 0), ReconstructionMethod::Dilation);
    CHECK(differences<T>(out, 0, expected) == 0);
  };
  check.operator()<std::uint8_t>();
  check.operator()<std::uint16_t>();
  check.operator()<float>();
}

TEST_CASE("reconstruction follows a spiral to its end") {
  // One path of 255 that winds to the middle; the marker touches its outer end only.
  constexpr int kSide = 41;
  const ImageFormat square{.width = kSide, .height = kSide, .channels = 1};
  const TestImage mask = filled_image<std::uint8_t>(square, [](int, int, int) { return 0; });
  int x = 0, y = 0, dx = 1, dy = 0, count = 0;
  const auto free = [&](int u, int v) {
    return u >= 0 && v >= 0 && u < kSide && v < kSide && mask.at<std::uint8_t>(u, v) == 0;
  };
  for (int turns = 0; turns < 2;) {
    mask.at<std::uint8_t>(x, y) = 255, ++count;
    const bool ahead = free(x + dx, y + dy) &&
                       (!(x + 2 * dx >= 0 && y + 2 * dy >= 0 && x + 2 * dx < kSide && y + 2 * dy < kSide) ||
                        free(x + 2 * dx, y + 2 * dy));
    if (ahead) {
      x += dx, y += dy, turns = 0;
    } else {
      const int old = dx;
      dx = -dy, dy = old, ++turns;
    }
  }
  REQUIRE(count > 500);
  const TestImage marker = filled_image<std::uint8_t>(square, [](int, int, int) { return 0; });
  marker.at<std::uint8_t>(0, 0) = 200;
  for (const char* near : {"4", "8"})
    for (const int threads : {1, 2, 5}) {
      StageHarness harness(reconstruction_stage(), {{"connectivity", std::string(near)}});
      harness.threads(threads).run({marker.view, mask.view});
      int different = 0;
      for (int v = 0; v < kSide; ++v)
        for (int u = 0; u < kSide; ++u)
          different += harness.at<std::uint8_t>(u, v) != (mask.at<std::uint8_t>(u, v) != 0 ? 200 : 0) ? 1 : 0;
      CHECK(different == 0);
    }
}
