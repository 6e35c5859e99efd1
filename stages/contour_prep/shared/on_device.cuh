// Steps that work on one contour at a time (per_contour.h) on the device.
#pragma once

#include "pipeline/value/copy_contours.h"
#include "stages/contour_prep/shared/per_contour.h"
#include "stages/contour_prep/shared/team_launch.cuh"

namespace contorno {

struct OnDevice {
  static constexpr MemoryKind kMemory = MemoryKind::Device;
  using Choice = DeviceChoice;
  using Selection = DeviceSelection;
  using Places = DeviceNewPoints;

  static void copy(const RunContext& context, const ContoursView& from, const ContoursView& to) {
    copy_contours_async(from, to, context.stream);
  }
  template <class Call>
  void plan() {
    launch_.plan<Call>();
  }
  template <class Call>
  void each(const RunContext& context, const char* name, const ContoursView& contours,
            const Call& call) const {
    launch_(name, contours, call, context.stream);
  }

 private:
  TeamLaunch launch_;
};

template <class Step>
std::unique_ptr<Stage> make_on_device(const ParamSet& params) {
  return make_per_contour<Step, OnDevice>(params);
}

}  // namespace contorno
