// The declaration of hierarchy.
#include "stages/contour_prep/hierarchy/nests.h"
#include "stages/contour_prep/shared/contour_step.h"
#include "stages/contour_prep/shared/on_host.h"

namespace contorno {

const StageType& hierarchy_stage() {
  static const StageType type = contour_step({
      .name = "hierarchy",
      .summary = "Finds which contours lie in which: parent and depth of every contour.",
      .gives = "The same contours, with their number, parent and depth as attributes.",
      .params = declare(ParamList<NoParams>()),
      .example = "- type: hierarchy\n",
      .make_cpu = make_step<Hierarchy<OnHost, HostNest>, NoParams>,
      .make_cuda = on_cuda<make_hierarchy_cuda>(),
  });
  return type;
}

}  // namespace contorno
