// The CUDA kernels of morphology, run on the host by an emulator of blocks, against the CPU implementation:
// no device and no CUDA compiler needed. Where a device answers, the stage's tests compare it as well.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include <array>
#include <cstdlib>

#include "stages/morphology/device.cuh"
#include "stages/morphology/stage.h"
#include "tests/stages/compare_images.h"
#include "tests/stages/harness.h"

#include <doctest/doctest.h>

using namespace contorno;
using namespace contorno::test;
using namespace contorno::morphology_cuda;

namespace {

struct EmulatedLauncher {
  template <class Kernel, class Job>
  void operator()(const char*, Kernel* kernel, unsigned blocks, unsigned threads, std::size_t shared,
                  const Job& job) const {
    emulated::run_grid(blocks, threads, shared, false, [&] { kernel(job); });
  }
  template <class Kernel, class Job>
  void together(const char*, Kernel* kernel, unsigned blocks, unsigned threads, const Job& job) const {
    emulated::run_grid(blocks, threads, 0, true, [&] { kernel(job); });
  }
};

template <class T>
TestImage noise(const ImageFormat& format, ElementType type, std::uint64_t seed, std::size_t row_extra = 0) {
  Random random(seed);
  ImageFormat typed = format;
  typed.type = type;
  return filled_image<T>(
      typed,
      [&](int x, int y, int) -> T {
        if constexpr (std::is_same_v<T, float>) {
          const float infinity = std::numeric_limits<float>::infinity();
          const float special[] = {std::nanf(""), -std::nanf(""), -0.0F, 0.0F, infinity, -infinity};
          const auto which = static_cast<std::size_t>(random.below(120));
          return which < std::size(special) ? special[which]
                                            : static_cast<float>(0.01 * x + 0.3 * random.unit());
        } else {
          return static_cast<T>(3 * x + 2 * y + random.below(1 << (6 * sizeof(T))));
        }
      },
      row_extra);
}

/// A window that lies beside its anchor: the last 381 of a line of 801.
StructuringElement beside_anchor(int width, int height) {
  std::vector<double> mask(801, 0);
  std::fill(mask.begin() + 420, mask.end(), 1.0);
  return StructuringElement::from_mask({width, height, mask});
}

/// Checks what the kernels make of `in` by a plan against the CPU's result.
void check(const MorphologyPlan& plan, const TestImage& in, const TestImage& expected,
           std::size_t most_shared = 227 << 10) {
  TestImage got(in.view.format, in.view.format.type == ElementType::U8 ? 3 : 4);
  const DevicePlan device(plan, most_shared);
  Guarded scratch(device.scratch_bytes());
  const EmulatedLauncher launcher;
  const PlanRun memory{in.view, got.view, device.runs().data(), device.terms().data(), scratch.data()};
  with_sample_type(in.view.format.type, [&]<class S>() { run_passes<S>(device, memory, launcher); });
  if (plan.reconstruction) {
    Guarded state(reconstruction_state_bytes(in.view.format));
    std::memset(state.data(), 0, state.size());
    const ReconstructionRun images{*plan.reconstruction, got.view,     in.view, got.view,
                                   plan.options,         state.data(), 3};
    with_sample_type(in.view.format.type, [&]<class S>() { run_reconstruction<S>(images, launcher); });
    CHECK(state.intact());
  }
  CHECK(same_image(got.view, expected.view));
  CHECK(got.memory.intact());
  CHECK(scratch.intact());
}

void check(MorphologyOperation operation, const TestImage& in, const StructuringElement& element,
           const MorphologyOptions& options = {}, std::size_t most_shared = 227 << 10) {
  INFO("operation ", static_cast<int>(operation), " of ", describe(in.view.format), " with ", element.width(),
       "x", element.height());
  TestImage expected(in.view.format);
  apply_morphology(operation, in.view, element, expected.view, options);
  check(plan_morphology(operation, element, options, in.view.format), in, expected, most_shared);
}

StructuringElement high(const StructuringElement& element, double step) {
  std::vector<double> heights;
  for (int i = 0; i < element.width() * element.height(); ++i) heights.push_back(step * (i % 7 - 3));
  return element.with_heights(heights);
}

}  // namespace

TEST_CASE("morphology's kernels give the CPU's bits for rectangles") {
  const TestImage rgb = noise<std::uint8_t>({.width = 61, .height = 35, .channels = 3}, ElementType::U8, 1);
  const TestImage odd = noise<std::uint8_t>({.width = 37, .height = 5, .channels = 1}, ElementType::U8, 2, 3);
  const TestImage deep =
      noise<std::uint16_t>({.width = 33, .height = 19, .channels = 4}, ElementType::U16, 3);
  const TestImage maps =
      noise<float>({.width = 20, .height = 17, .channels = 2, .layout = Layout::Planar}, ElementType::F32, 4);
  for (const auto& [width, height] : {std::pair{1, 1}, std::pair{3, 3}, std::pair{2, 9}, std::pair{8, 7},
                                      std::pair{23, 1}, std::pair{16, 30}, std::pair{70, 80}})
    for (const TestImage* in : {&rgb, &odd, &deep, &maps})
      for (const MorphologyOperation operation :
           {MorphologyOperation::Erosion, MorphologyOperation::Opening, MorphologyOperation::Gradient})
        check(operation, *in,
              StructuringElement::rectangle(width, height).with_anchor(width / 3, height - 1));
  // Blocks of narrower columns, rows in several segments, and what no block can hold.
  check(MorphologyOperation::Opening, rgb, StructuringElement::rectangle(5, 200));
  check(MorphologyOperation::Closing, rgb, StructuringElement::rectangle(2, 1000));
  check(MorphologyOperation::Opening,
        noise<std::uint8_t>({.width = 1150, .height = 6, .channels = 3}, ElementType::U8, 14),
        StructuringElement::rectangle(12, 3));
  check(MorphologyOperation::Opening, rgb, StructuringElement::rectangle(3200, 2));
  // Rows that a block holds as a whole, from their first to their last column and in between.
  const TestImage wide = noise<std::uint8_t>({.width = 700, .height = 6, .channels = 3}, ElementType::U8, 15);
  const TestImage plain =
      noise<std::uint8_t>({.width = 2001, .height = 3, .channels = 1}, ElementType::U8, 16);
  const TestImage words = noise<float>({.width = 640, .height = 2, .channels = 1}, ElementType::F32, 17);
  for (const TestImage* in : {&wide, &plain, &words})
    for (const auto& [width, anchor] : {std::pair{401, 200}, std::pair{400, 0}, std::pair{377, 376},
                                        std::pair{301, 17}, std::pair{600, 301}})
      for (const MorphologyOperation operation : {MorphologyOperation::Opening, MorphologyOperation::Closing})
        check(operation, *in, StructuringElement::rectangle(width, 2).with_anchor(anchor, 1));
  check(MorphologyOperation::Opening, wide, StructuringElement::rectangle(401, 3),
        {.border = MorphologyBorder::Constant, .border_value = 77});
  // A rectangle that does not hold its anchor.
  for (const TestImage* in : {&rgb, &maps})
    for (const MorphologyOperation operation : {MorphologyOperation::Opening, MorphologyOperation::BlackHat})
      check(operation, *in, StructuringElement::from_mask({5, 1, {0, 0, 0, 1, 1}}));
}

TEST_CASE("morphology's kernels give the CPU's bits for windows as high as columns, or higher") {
  const TestImage high =
      noise<std::uint8_t>({.width = 35, .height = 901, .channels = 3}, ElementType::U8, 21);
  const TestImage odd =
      noise<std::uint8_t>({.width = 41, .height = 650, .channels = 1}, ElementType::U8, 22, 3);
  const TestImage deep =
      noise<std::uint16_t>({.width = 11, .height = 704, .channels = 4}, ElementType::U16, 23, 8);
  const TestImage maps = noise<float>({.width = 9, .height = 640, .channels = 2, .layout = Layout::Planar},
                                      ElementType::F32, 24);
  for (const TestImage* in : {&high, &odd, &deep, &maps})
    for (const auto& [height, anchor] :
         {std::pair{400, 0}, std::pair{377, 376}, std::pair{83, 17}, std::pair{1301, 600}})
      for (const MorphologyOperation operation :
           {MorphologyOperation::Opening, MorphologyOperation::Gradient})
        check(operation, *in, StructuringElement::rectangle(2, height).with_anchor(1, anchor));
  // Fewer columns a block, and what no block can hold as a whole.
  const StructuringElement tall = StructuringElement::rectangle(5, 500);
  for (const std::size_t most_shared : {48 << 10, 24 << 10, 12 << 10})
    check(MorphologyOperation::Opening, high, tall, {}, most_shared);
  for (const MorphologyBorder border :
       {MorphologyBorder::Replicate, MorphologyBorder::Reflect, MorphologyBorder::Constant})
    for (const TestImage* in : {&high, &deep})
      check(MorphologyOperation::Closing, *in, tall.with_anchor(4, 440),
            {.border = border, .border_value = 77});
  for (const TestImage* in : {&high, &maps})
    for (const MorphologyOperation operation : {MorphologyOperation::Opening, MorphologyOperation::Closing})
      check(operation, *in, beside_anchor(1, 801));
}

TEST_CASE("morphology's kernels give the CPU's bits for windows as wide as rows, or wider") {
  const TestImage wide = noise<std::uint8_t>({.width = 700, .height = 6, .channels = 3}, ElementType::U8, 25);
  const TestImage deep =
      noise<std::uint16_t>({.width = 650, .height = 5, .channels = 4}, ElementType::U16, 26);
  const TestImage maps = noise<float>({.width = 640, .height = 2, .channels = 2, .layout = Layout::Planar},
                                      ElementType::F32, 27);
  const TestImage wider =
      noise<std::uint8_t>({.width = 3300, .height = 3, .channels = 3}, ElementType::U8, 28);
  for (const TestImage* in : {&wide, &deep, &maps, &wider})
    for (const auto& [width, anchor] : {std::pair{700, 350}, std::pair{1401, 700}, std::pair{1400, 0},
                                        std::pair{900, 899}, std::pair{4001, 17}, std::pair{4096, 2047}})
      for (const MorphologyOperation operation :
           {MorphologyOperation::Opening, MorphologyOperation::Gradient})
        check(operation, *in, StructuringElement::rectangle(width, 3).with_anchor(anchor, 2));
  for (const MorphologyBorder border :
       {MorphologyBorder::Replicate, MorphologyBorder::Reflect101, MorphologyBorder::Constant})
    for (const TestImage* in : {&wide, &wider})
      check(MorphologyOperation::Opening, *in, StructuringElement::rectangle(2800, 2).with_anchor(1000, 0),
            {.border = border, .border_value = 77});
  for (const TestImage* in : {&wide, &maps})
    for (const MorphologyOperation operation : {MorphologyOperation::Opening, MorphologyOperation::Closing})
      check(operation, *in, beside_anchor(801, 1));
}

TEST_CASE("morphology's kernels give the CPU's bits for other elements") {
  const TestImage rgb = noise<std::uint8_t>({.width = 61, .height = 35, .channels = 3}, ElementType::U8, 5);
  const TestImage rgba = noise<std::uint8_t>({.width = 9, .height = 6, .channels = 4}, ElementType::U8, 6);
  const TestImage maps = noise<float>({.width = 20, .height = 17, .channels = 1}, ElementType::F32, 7);
  const StructuringElement lonely =
      StructuringElement::from_mask({5, 3, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1}});
  for (const StructuringElement& element :
       {StructuringElement::ellipse(21, 15), StructuringElement::line(9, 60), StructuringElement::cross(4, 5),
        lonely})
    for (const TestImage* in : {&rgb, &rgba, &maps})
      for (const MorphologyOperation operation : {MorphologyOperation::Closing, MorphologyOperation::TopHat})
        check(operation, *in, element);
  // Larger tiles, and an element that is too wide for any.
  check(MorphologyOperation::Opening, rgb, StructuringElement::ellipse(45, 31));
  check(MorphologyOperation::Opening, rgb, StructuringElement::ellipse(90, 100));
  check(MorphologyOperation::Opening, rgb, StructuringElement::ellipse(401, 61));
}

TEST_CASE("morphology's kernels give the CPU's bits with heights, borders and pixels put in between") {
  const TestImage bytes = noise<std::uint8_t>({.width = 30, .height = 14, .channels = 3}, ElementType::U8, 8);
  const TestImage deep = noise<std::uint16_t>({.width = 17, .height = 9, .channels = 1}, ElementType::U16, 9);
  const TestImage maps = noise<float>({.width = 12, .height = 9, .channels = 1}, ElementType::F32, 10);
  for (const MorphologyBorder border :
       {MorphologyBorder::Identity, MorphologyBorder::Replicate, MorphologyBorder::Reflect,
        MorphologyBorder::Reflect101, MorphologyBorder::Wrap, MorphologyBorder::Constant}) {
    const MorphologyOptions options{.border = border, .border_value = 77};
    for (const MorphologyOperation operation :
         {MorphologyOperation::Opening, MorphologyOperation::BlackHat}) {
      check(operation, bytes, StructuringElement::rectangle(4, 6), options);
      check(operation, bytes, StructuringElement::disk(7).with_anchor(0, 5), options);
      check(operation, bytes, high(StructuringElement::rectangle(3, 4), 40), options);
      check(operation, deep, high(StructuringElement::cross(5, 3), 9000), options);
      check(operation, maps, high(StructuringElement::rectangle(3, 3), 0.25), options);
    }
  }
}

TEST_CASE("morphology's kernels give the CPU's bits for hit-or-miss") {
  const TestImage bytes = noise<std::uint8_t>({.width = 37, .height = 9, .channels = 4}, ElementType::U8, 31);
  const TestImage deep =
      noise<std::uint16_t>({.width = 19, .height = 8, .channels = 1}, ElementType::U16, 32);
  const TestImage maps = noise<float>({.width = 16, .height = 9, .channels = 1}, ElementType::F32, 33);
  const auto check_both = [&](const StructuringElement& hit, const StructuringElement& miss) {
    for (const TestImage* in : {&bytes, &deep, &maps}) {
      TestImage expected(in->view.format);
      apply_hit_or_miss(in->view, hit, miss, expected.view);
      check(plan_hit_or_miss(hit, miss, {}, in->view.format), *in, expected);
    }
  };
  check_both(StructuringElement::from_mask({3, 3, {0, 0, 0, 0, 1, 1, 0, 1, 0}}),
             StructuringElement::from_mask({3, 3, {1, 1, 0, 1, 0, 0, 0, 0, 0}}));
  check_both(StructuringElement::rectangle(2, 1).with_anchor(0, 0),
             StructuringElement::from_mask({3, 1, {1, 0, 0}}));
}

TEST_CASE("reconstruction's kernel reaches the CPU's fixed point") {
  // The emulator takes its time for what warps say to each other: few tiles, each case once.
  const StructuringElement element = StructuringElement::rectangle(9, 3);
  check(MorphologyOperation::OpeningByReconstruction,
        noise<std::uint8_t>({.width = 1, .height = 1, .channels = 4}, ElementType::U8, 11), element);
  check(MorphologyOperation::OpeningByReconstruction,
        noise<std::uint8_t>({.width = 37, .height = 40, .channels = 1}, ElementType::U8, 12), element);
  check(
      MorphologyOperation::ClosingByReconstruction,
      noise<float>({.width = 35, .height = 3, .channels = 2, .layout = Layout::Planar}, ElementType::F32, 13),
      element, {.neighbours = Neighbours::Four});
}
