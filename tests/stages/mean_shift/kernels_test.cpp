// The kernels of mean shift, run on the host by the emulator, against the CPU: the same bits. Needs no
// device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include <array>

#include "stages/mean_shift/points_kernels.cuh"
#include "stages/mean_shift/segment_kernels.cuh"

#include <doctest/doctest.h>

#include "stages/mean_shift/climb.h"
#include "stages/mean_shift/filter.h"
#include "tests/stages/harness.h"

using namespace contorno;
using namespace contorno::mean_shift_cuda;
using contorno::test::Random;

namespace {

template <class T>
std::vector<T> random_points(int count, int dims, double spread) {
  Random random(static_cast<unsigned>(count * 31 + dims));
  std::vector<T> points;
  for (int i = 0; i < count * dims; ++i)
    points.push_back(static_cast<T>(spread * (random.unit() + random.unit() - 1)));
  return points;
}

template <class T, int kDims>
void check_equal(int count, int dims, MeanShiftKernel kernel, MeanShiftStop stop) {
  const std::vector<T> points = random_points<T>(count, dims, 6);
  const MeanShiftTree<T> tree = make_mean_shift_tree(points.data(), count, dims);
  std::vector<T> expected(points.size()), ends(points.size(), T(-1));
  ClimbTask<T> task{.tree = &tree,
                    .rule = {.limit = T(9),
                             .scale = kernel == MeanShiftKernel::Gaussian ? T(-0.7213) : T(-1) / T(9),
                             .stop = T(1e-4),
                             .most = 4,
                             .kernel = kernel},
                    .stop = stop,
                    .starts = points.data(),
                    .order = tree.order.data(),
                    .ends = expected.data(),
                    .count = count};
  const ClimbSummary summary = climb_on_cpu(task, 1, best_simd());
  std::vector<double> squares(static_cast<std::size_t>(count), -1.0);
  Control control;
  mean_shift_cuda::Job<T> job{.tree = tree.view(),
                              .rule = task.rule,
                              .order = task.order,
                              .ends = ends.data(),
                              .count = count,
                              .warps = 2,
                              .squares = squares.data(),
                              .control = &control};
  const std::size_t shared =
      kNormSums * sizeof(double) + 2 * static_cast<std::size_t>(dims) * (kShiftLanes + 1) * sizeof(T);
  if (stop == MeanShiftStop::PerPoint)
    emulated::run_grid((static_cast<unsigned>(count) + 1) / 2, 64, shared, false,
                       [&] { climb_points<T, kDims>(job); });
  else
    emulated::run_grid(3, 64, shared, true, [&] { climb_together<T, kDims>(job); });
  CHECK(std::memcmp(ends.data(), expected.data(), ends.size() * sizeof(T)) == 0);
  CHECK(control.iterations == summary.iterations);
  CHECK((control.unfinished == 0) == summary.converged);
  CHECK(std::bit_cast<double>(control.squared) == summary.squared);

  MeanShiftFrame frame;
  frame.centre.assign(static_cast<std::size_t>(dims), 0.1), frame.unit = 0.25;
  std::vector<double> rested(points.size(), -1.0);
  const LeaveTree<T> leave{.ends = ends.data(),
                           .centre = frame.centre.data(),
                           .unit = frame.unit,
                           .dims = static_cast<unsigned>(dims),
                           .points = rested.data()};
  for (std::size_t i = 0; i < rested.size(); ++i) {
    leave(i);
    CHECK(rested[i] == frame.from_tree(static_cast<double>(ends[i]), i % static_cast<std::size_t>(dims)));
  }
}

/// What the stages keep on the device, on the host.
struct Emulated {
  MeanShiftImagePlan plan;
  std::size_t pixels;
  int stride;
  std::vector<unsigned> places, values;
  std::vector<unsigned char> out;
  ImageJob job;

  Emulated(const MeanShiftImagePlan& made, const test::TestImage& in)
      : plan(made),
        pixels(static_cast<std::size_t>(made.in.width) * static_cast<std::size_t>(made.in.height)),
        stride((made.in.width + kGroup - 1) / kGroup * kGroup),
        places(static_cast<std::size_t>(stride * made.in.height) + 3),
        values(places.size()),
        out(pixels * static_cast<std::size_t>(made.in.channels), 77) {
    job = {.window = plan.window, .colours = plan.colours, .channels = plan.in.channels};
    job.colours.decode = plan.decode.data();
    job.in = static_cast<const unsigned char*>(in.view.data), job.in_pitch = in.view.row_pitch;
    job.out_pitch = static_cast<std::ptrdiff_t>(plan.in.row_bytes());
    job.stride = stride;
    job.values = values.data();
    job.places = same() ? values.data() : places.data();
  }
  bool same() const { return plan.colours.space == MeanShiftSpace::Rgb; }
  void climb() {
    emulated::run_grid((static_cast<unsigned>(stride * plan.in.height) + kPixelThreads - 1) / kPixelThreads,
                       kPixelThreads, 0, false,
                       [&] { same() ? pack_pixels<true>(job) : pack_pixels<false>(job); });
    const auto tiles = static_cast<unsigned>((plan.in.width + kTileX - 1) / kTileX *
                                             ((plan.in.height + kTileY - 1) / kTileY));
    emulated::run_grid(tiles, kPixelThreads, 0, false,
                       [&] { same() ? climb_pixels<true>(job) : climb_pixels<false>(job); });
  }
};

test::TestImage speckled(int width, int height, int channels) {
  test::TestImage image({.width = width, .height = height, .channels = channels}, 3);
  Random random(12);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c)
        image.at<std::uint8_t>(x, y, c) =
            static_cast<std::uint8_t>((x / 8 + y / 6) % 3 * 70 + random.below(40) + c * 9);
  return image;
}

/// Whether the emulated filter gives the bytes of the CPU.
bool filter_is_equal(const test::TestImage& in, int spatial, double colour, const char* space) {
  test::StageHarness harness(
      mean_shift_filter_stage(),
      {{"spatial", std::int64_t{spatial}}, {"colour", colour}, {"space", std::string(space)}});
  harness.run({in.view});
  Emulated device(
      make_mean_shift_image_plan("test", harness.params().as<MeanShiftFilterParams>(), in.view.format), in);
  device.job.out = device.out.data();
  device.climb();
  return std::memcmp(harness.bytes().data(), device.out.data(), device.out.size()) == 0;
}

}  // namespace

TEST_CASE("the emulated climb of points gives the bits of the CPU") {
  for (const auto stop : {MeanShiftStop::PerPoint, MeanShiftStop::Frobenius})
    for (const auto kernel :
         {MeanShiftKernel::Gaussian, MeanShiftKernel::Flat, MeanShiftKernel::Epanechnikov}) {
      check_equal<float, 1>(1, 1, kernel, stop);
      check_equal<float, 2>(70, 2, kernel, stop);
      check_equal<double, 3>(40, 3, kernel, stop);
      check_equal<float, 8>(35, 5, kernel, stop);
      check_equal<float, 0>(33, 34, kernel, stop);
    }
  check_equal<float, 2>(1100, 2, MeanShiftKernel::Gaussian, MeanShiftStop::PerPoint);
}

TEST_CASE("the emulated image filter gives the bytes of the CPU") {
  for (const char* space : {"rgb", "lab", "luv"})
    for (const int channels : {1, 3, 4}) CHECK(filter_is_equal(speckled(37, 21, channels), 6, 35, space));
}

TEST_CASE("the emulated image filter gives the bytes of the CPU in the smallest and the largest windows") {
  const test::TestImage in = speckled(263, 5, 3);
  for (const int spatial : {1, 2, 3, 128})
    for (const double colour : {0.0, 20.0, 255.0}) {
      INFO("spatial ", spatial, ", colour ", colour);
      CHECK(filter_is_equal(in, spatial, colour, "rgb"));
    }
}

TEST_CASE("the emulated segmentation gives the labels and bytes of the CPU") {
  for (const auto& [width, height, channels, min_region] :
       {std::array{1, 1, 3, 9}, std::array{41, 30, 3, 25}, std::array{53, 19, 4, 1},
        std::array{37, 22, 1, 60}, std::array{30, 30, 3, 5000}}) {
    const test::TestImage in = speckled(width, height, channels);
    test::StageHarness harness(
        mean_shift_segment_stage(),
        {{"spatial", std::int64_t{3}}, {"colour", 22.0}, {"min_region", std::int64_t{min_region}}});
    harness.run({in.view});
    const auto& params = harness.params().as<MeanShiftSegmentParams>();
    Emulated device(make_mean_shift_segment_plan(params, in.view.format), in);
    const std::size_t pixels = device.pixels;
    std::vector<PackedEnd> ends(pixels);
    device.job.ends = ends.data();
    device.climb();
    const unsigned blocks = 3;
    std::vector<unsigned> parent(pixels, 99), root(pixels, 99), counts(blocks, 99);
    std::vector<RegionSums> sums(pixels);
    std::vector<unsigned long long> nearest(pixels, 99);
    std::vector<float> labels(pixels, -1);
    RegionControl control;
    device.job.out = device.out.data();
    const RegionJob job{
        .image = device.job,
        .min_region = static_cast<unsigned>(min_region),
        .pixels = static_cast<unsigned>(pixels),
        .ends = ends.data(),
        .parent = parent.data(),
        .root = root.data(),
        .sums = sums.data(),
        .nearest = nearest.data(),
        .block_counts = counts.data(),
        .control = &control,
        .labels = labels.data(),
        .labels_pitch = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(width) * sizeof(float))};
    emulated::run_grid(blocks, kRegionThreads, kRegionThreads / 32 * sizeof(unsigned), true,
                       [&] { segment_regions(job); });
    CHECK(std::memcmp(harness.bytes(1).data(), labels.data(), pixels * sizeof(float)) == 0);
    CHECK(std::memcmp(harness.bytes(0).data(), device.out.data(), device.out.size()) == 0);
  }
}
