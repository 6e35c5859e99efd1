// The declaration of largest_first.
#include <fmt/format.h>

#include "base/error.h"
#include "stages/contour_prep/largest_first/stage.h"
#include "stages/contour_prep/shared/contour_step.h"
#include "stages/contour_prep/shared/on_host.h"

namespace contorno {
namespace {

ParamDeclaration largest_first_params() {
  ParamList<LargestFirstParams> list;
  list.choice("by", &LargestFirstParams::by,
              {{"points", ContourSize::Points}, {"length", ContourSize::Length}, {"area", ContourSize::Area}},
              "What the size of a contour is. The area of an open contour is 0, that of a hole counts like "
              "any other.");
  list.integer("limit", &LargestFirstParams::limit, 0, 1000000000, Unit::None,
               "At most so many contours of each class are kept, the first ones; 0 keeps all.");
  list.flag("only_first", &LargestFirstParams::only_first,
            "Whether only the largest of each class moves to the front, and the others stay in their order.");
  return declare(list);
}

}  // namespace

const ContoursFormat& checked_contours(const PlanContext& context) {
  const auto& format = std::get<ContoursFormat>(context.input(0));
  if (format.classes > kMostSizedClasses)
    throw Error(ExitCode::BadConfig,
                fmt::format("largest_first: contours of {} classes were given, allowed up to {}",
                            format.classes, kMostSizedClasses));
  return format;
}

const StageType& largest_first_stage() {
  static const StageType type = contour_step({
      .name = "largest_first",
      .summary = "Sorts the contours of each class by size, and keeps the largest.",
      .gives = "The largest of them, the largest first.",
      .params = largest_first_params(),
      .example = "- type: largest_first\n  by: area\n  limit: 20\n",
      .make_cpu = make_step<LargestFirst<OnHost>, LargestFirstParams>,
      .make_cuda = on_cuda<make_largest_first_cuda>(),
  });
  return type;
}

}  // namespace contorno
