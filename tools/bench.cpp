#include "tools/bench.h"

#include <fmt/format.h>

#include "cuda/device.h"

namespace contorno {

void bench_all() {
  const DeviceReport& device = device_report();
  fmt::print("{}\n",
             device.available ? device.devices[0].name : fmt::format("cpu backend ({})", device.reason));
#if CONTORNO_HAVE_CUDA
  if (device.available) bench_engine();
#endif
  bench_frames();
}

}  // namespace contorno
