#include "cuda/device.h"

namespace contorno {
namespace {

std::string version_text(int version) {
  return version == 0 ? "none" : std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

void explain_absence(int runtime_version, int driver_version, const std::string& error,
                     DeviceReport& report) {
  report.available = false;
  report.runtime_version = version_text(runtime_version);
  report.driver_version = version_text(driver_version);
  // Without a driver the runtime says that its version is insufficient.
  report.reason = driver_version == 0 ? "no NVIDIA driver is installed"
                  : error.empty()     ? "no CUDA device was found"
                                      : error;
  // Within a major version a driver runs every runtime; an older major one does not.
  if (driver_version == 0)
    report.fix = "install the NVIDIA driver (libcuda.so.1 was not found)";
  else if (driver_version / 1000 < runtime_version / 1000)
    report.fix = "this build needs a driver for CUDA " + version_text(runtime_version / 1000 * 1000) +
                 " or later, the one installed is for CUDA " + report.driver_version + "; update the driver";
  else
    report.fix = "the driver (CUDA " + report.driver_version +
                 ") is new enough; check that the device is there (nvidia-smi) and not hidden by "
                 "CUDA_VISIBLE_DEVICES";
}

std::string device_label(int index) {
  const std::vector<DeviceInfo>& devices = device_report().devices;
  for (const DeviceInfo& one : devices)
    if (one.index == index)
      return devices.size() == 1 ? one.name : std::to_string(index) + " (" + one.name + ")";
  return std::to_string(index);
}

}  // namespace contorno
