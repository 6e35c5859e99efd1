// Order nearest: the contours of each class so that each is followed by the nearest one that is left, as a
// pen draws them with short ways in between.
//
// Input: contours of any stage.
//
// Output: the same contours in another order; the first contour stays the first. By `greedy` they are whole
// and unchanged, and the distance of two contours is that of their nearest points. By `endpoint` the distance
// is the way of the pen: from where the last contour ended to an end of an open contour, which is turned
// round if its last point is the nearer one, or to any point of a closed one, which begins there. `2opt` goes
// on from there: parts of the order are turned round while that shortens the ways. Of several contours at the
// same distance, the first comes next, as it does when all that are left are infinitely far.
//
// Memory: about 50 bytes a point and 80 a contour of the planned capacities on the CPU (90 a contour by
// `endpoint`, 110 by `2opt`), 164 a contour and up to 128 KiB on CUDA (40 a contour by `endpoint`), and the
// output.
//
// `2opt` runs on the CPU alone, and takes up to 16,384 contours of a class; a frame with more is refused:
// Error(BadData). So is one on CUDA where the steps of a class are more than is allowed: by `endpoint`, which
// looks at all that are left for each place, from some 50,000 contours on; by either where contours lie
// around each other or in the same place by the ten thousand, since boxes do not tell them apart.
//
// Source: L. V. Greco, "Fourier Drawing Machine", sections 2.6 and 3.7
// (order_clusters_by_minimum_distance). The order by `greedy` is the paper's; boxes around points take the
// place of the matrix of distances. 2opt: G. A. Croes, "A method for solving traveling-salesman problems",
// 1958.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "base/host_device.h"
#include "geometry/own_points.h"
#include "pipeline/graph/stage.h"

namespace contorno {

/// How the next contour is chosen.
enum class DrawingOrder : std::uint8_t { Greedy, Endpoint, TwoOpt };

struct OrderNearestParams {
  DrawingOrder order = DrawingOrder::Greedy;
  int passes = 10;  ///< of 2opt at most
};

/// How far a pen that draws the contours in their order goes between those of a class, in px, in multiples of
/// 2^-20 each way. Ways from or to a point with a coordinate that is infinite or NaN do not count, nor do
/// those of 10^12 px and more. On the host; `contours` fits.
double pen_up_length(const ContoursView& contours);

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_order_nearest_cuda(const ParamSet& params);

// How a pen draws contours, for both backends: where it sets down on each, and where it lifts.

/// Where the pen sets down on a contour that is drawn from own point `start` on, and where it lifts: an open
/// contour, which is drawn from one of its ends, at the other one. Of a contour without points a point of
/// NaN.
CONTORNO_HD inline Point pen_down(const OwnPoints& own, std::uint32_t start) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  return own.count > 0 ? own.points[start] : Point{kNone, kNone};
}
CONTORNO_HD inline Point pen_up(const OwnPoints& own, std::uint32_t start) {
  return pen_down(own, own.closed ? start : own.count - 1 - start);
}

/// At how many points the pen may set down: at each own point of a closed contour, at the two ends of an open
/// one.
CONTORNO_HD inline std::uint32_t start_count(const OwnPoints& own) {
  return own.closed || own.count < 2 ? own.count : 2;
}
/// The own point of start `number`, in ascending order.
CONTORNO_HD inline std::uint32_t start_of(const OwnPoints& own, std::uint32_t number) {
  return own.closed || number == 0 ? number : own.count - 1;
}

/// Steps of a warp that a device may take: of a class one after the other, and in all for the lists of
/// nearest contours, which are made beside each other. A few seconds of a device each. Contours around each
/// other, whose boxes tell nothing, take some 12 steps a pair for their lists.
inline constexpr std::uint64_t kMostOrdering = std::uint64_t{1} << 28;
inline constexpr std::uint64_t kMostListing = std::uint64_t{1} << 32;

/// For a frame with a class of so many contours that take more. Throws Error(BadData).
[[noreturn]] void throw_too_many_steps(std::uint32_t contours);

const StageType& order_nearest_stage();

}  // namespace contorno
