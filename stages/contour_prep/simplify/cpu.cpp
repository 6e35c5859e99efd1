// The declaration of simplify, whose methods are steps of their own.
#include "stages/contour_prep/shared/on_host.h"
#include "stages/contour_prep/simplify/methods.h"

namespace contorno {
namespace {

ParamDeclaration simplify_params() {
  ParamList<SimplifyParams> list;
  list.choice(
      "method", &SimplifyParams::method,
      {{"douglas_peucker", SimplifyMethod::DouglasPeucker}, {"visvalingam", SimplifyMethod::Visvalingam}},
      "How points are chosen: by their distance to the segment between those that are kept, or by the "
      "area of the triangle with their neighbours.");
  list.number("tolerance", &SimplifyParams::tolerance, 0, 1e9, Unit::None,
              "Points go while the distance is not greater than this in px; for visvalingam, the area in "
              "px^2.");
  list.integer(
      "points", &SimplifyParams::points, 0, 1000000000, Unit::None,
      "At most so many points of each contour are kept, the most important ones; the repeated point of "
      "a closed contour does not count. 0 keeps any number.");
  return declare(list);
}

/// A StageType's make_cpu and make_cuda, of those of both methods.
template <class Make>
auto by_method(Make douglas_peucker, Make visvalingam) {
  return [=](const ParamSet& params) {
    return params.as<SimplifyParams>().method == SimplifyMethod::Visvalingam ? visvalingam(params)
                                                                             : douglas_peucker(params);
  };
}

}  // namespace

const StageType& simplify_stage() {
  static const StageType type = contour_step({
    .name = "simplify", .summary = "Keeps the points of contours that matter for their shape.",
    .gives = "The same contours with fewer points.", .params = simplify_params(),
    .example = "- type: simplify\n  tolerance: 0.75\n  points: 200\n",
    .make_cpu = by_method(make_per_contour<DouglasPeucker, OnHost>, make_per_contour<Visvalingam, OnHost>),
#if CONTORNO_HAVE_CUDA
    .make_cuda = by_method(make_on_device<DouglasPeucker>, make_on_device<Visvalingam>),
#endif
  });
  return type;
}

}  // namespace contorno
