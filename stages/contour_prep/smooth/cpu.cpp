// The declaration of smooth.
#include "stages/contour_prep/shared/on_host.h"
#include "stages/contour_prep/smooth/stage.h"

namespace contorno {
namespace {

ParamDeclaration smooth_params() {
  ParamList<SmoothParams> list;
  list.integer(
      "terms", &SmoothParams::terms, 1, 1000000000, Unit::None,
      "How many terms of its Fourier series each contour keeps: the fewer, the smoother. 1 leaves the "
      "centre of a closed contour, 3 an ellipse.");
  list.choice("keep", &SmoothParams::keep, {{"low", KeptTerms::Low}, {"top", KeptTerms::Top}},
              "Which terms are kept: those of the lowest frequencies, or the largest ones.");
  return declare(list);
}

}  // namespace

const StageType& smooth_stage() {
  static const StageType type = per_contour_step<Smooth>(
      {.name = Smooth::kName,
       .summary = "Smooths contours: keeps a few terms of the Fourier series of each.",
       .gives = "The same contours with points that have moved.",
       .params = smooth_params(),
       .example = "- type: smooth\n  terms: 31\n"});
  return type;
}

}  // namespace contorno
