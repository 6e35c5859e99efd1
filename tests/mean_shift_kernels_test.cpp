// The kernels of mean shift, run on the host by the emulator, against the CPU: the same bits. Needs no
// device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include <array>

#include "stages/mean_shift_points_kernel.cuh"

#include <doctest/doctest.h>

#include "stages/mean_shift_climb.h"
#include "tests/stage_harness.h"

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
  Job<T> job{.tree = tree.view(),
             .rule = task.rule,
             .starts = points.data(),
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
