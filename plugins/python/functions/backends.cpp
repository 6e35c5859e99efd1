// contorno.backends(): what this build and this machine can do.
#include <omp.h>

#include <string>

#include "cuda/device.h"
#include "plugins/python/functions/bindings.h"
#include "plugins/python/shared/process.h"
#include "stages/shared/simd.h"

namespace contorno::python {
namespace {

py::dict cpu_backend() {
  py::dict cpu;
  cpu["available"] = true;
  cpu["simd"] = std::string(name_of(best_simd()));
  cpu["threads"] = omp_get_max_threads();
  return cpu;
}

py::dict cuda_backend() {
  begin_cuda();
  const DeviceReport* report = nullptr;
  {
    const py::gil_scoped_release released;
    report = &device_report();
  }
  if (report->available) cuda_began();
  py::dict cuda;
  cuda["available"] = report->available;
  cuda["built_in"] = report->built_in;
  cuda["reason"] = report->reason;
  cuda["fix"] = report->fix;
  cuda["runtime"] = report->runtime_version;
  cuda["driver"] = report->driver_version;
  py::list devices;
  for (const DeviceInfo& info : report->devices) {
    py::dict device;
    device["index"] = info.index;
    device["name"] = info.name;
    device["compute_capability"] = info.compute_capability;
    device["total_bytes"] = info.total_bytes;
    device["multiprocessors"] = info.multiprocessors;
    devices.append(device);
  }
  cuda["devices"] = devices;
  return cuda;
}

}  // namespace

void bind_backends(py::module_& module) {
  module.def("backends", [] {
    py::dict backends;
    backends["cpu"] = cpu_backend();
    backends["cuda"] = cuda_backend();
    return backends;
  });
}

}  // namespace contorno::python
