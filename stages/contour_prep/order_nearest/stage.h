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
// `endpoint`, 110 by `2opt`), 164 a contour and up to 128 KiB on CUDA (40 a contour by `endpoint`, 56 by
// `2opt`), and the output.
//
// `2opt` takes up to 16,384 contours of a class; a frame with more is refused: Error(BadData).
//
// Source: L. V. Greco, "Fourier Drawing Machine", sections 2.6 and 3.7
// (order_clusters_by_minimum_distance). The order by `greedy` is the paper's; boxes around points take the
// place of the matrix of distances. 2opt: G. A. Croes, "A method for solving traveling-salesman problems",
// 1958.
#pragma once

#include <memory>

#include "pipeline/graph/stage.h"

namespace contorno {

/// By what the next contour is chosen.
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

const StageType& order_nearest_stage();

}  // namespace contorno
