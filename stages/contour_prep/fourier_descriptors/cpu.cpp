// The declaration of fourier_descriptors.
#include "stages/contour_prep/fourier_descriptors/stage.h"
#include "stages/contour_prep/shared/on_host.h"

namespace contorno {

const StageType& fourier_descriptors_stage() {
  static const StageType type = per_contour_step<FourierDescriptors>(
      {.name = FourierDescriptors::kName,
       .summary = "Describes the form of closed contours by their Fourier coefficients.",
       .gives = "The same contours, with their descriptors as attributes.",
       .params = declare(ParamList<NoParams>()),
       .example = "- type: fourier_descriptors\n"});
  return type;
}

}  // namespace contorno
