// Steps that work on one contour at a time (per_contour.h) on the CPU, and their declaration.
#pragma once

#include "geometry/contour_loop.h"
#include "pipeline/value/copy_contours.h"
#include "stages/contour_prep/shared/per_contour.h"

namespace contorno {

/// OnDevice (on_device.cuh) has the same names.
struct OnHost {
  static constexpr MemoryKind kMemory = MemoryKind::Host;
  using Choice = HostChoice;
  using Selection = HostSelection;
  using Places = HostNewPoints;

  /// `to` gets the contours of `from`, or their counts where they do not fit.
  static void copy(const RunContext&, const ContoursView& from, const ContoursView& to) {
    if (begin_output(from, to)) copy_contours(from, to);
  }
  template <class Call>
  void plan(const ContoursFormat&) {}
  /// Calls call(team, contour) for all contours, none where they do not fit.
  template <class Call>
  void each(const RunContext& context, const char*, const ContoursView& contours, const Call& call) const {
    if (!contours.fits()) return;
    for_contours(context.threads, contours.counts->contours,
                 [&](std::uint32_t contour) { call(OneThread{}, contour); });
  }
};

/// Defined in on_device.cuh, for the steps of steps.cu; only in builds that have CUDA.
template <class Step>
std::unique_ptr<Stage> make_on_device(const ParamSet& params);

/// The declaration of such a step, whose implementations need not be given. Without a make_on_device of it
/// use contour_step with make_per_contour<Step, OnHost>.
template <class Step>
StageType per_contour_step(ContourStep step) {
  step.make_cpu = make_per_contour<Step, OnHost>;
  step.make_cuda = on_cuda<make_on_device<Step>>();
  return contour_step(std::move(step));
}

}  // namespace contorno
