#include "tools/bench/bench.h"
#include "tools/say.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "cuda/device.h"
#include "tools/bench/conditions.h"

namespace contorno {

const std::vector<std::string>& bench_parts() {
  static const std::vector<std::string> parts{"all", "engine", "rate", "stages", "latency", "conditions"};
  return parts;
}

void bench(const std::string& part) {
  const std::vector<std::string>& parts = bench_parts();
  if (std::find(parts.begin(), parts.end(), part) == parts.end())
    throw Error(ExitCode::Usage,
                fmt::format("the part is '{}', allowed one of {}", part, fmt::join(parts, ", ")));
  const DeviceReport& device = device_report();
  print(conditions_line() + "\n");
  print("{}\n", device.available ? device_label(device.devices[0].index)
                                 : fmt::format("cpu backend ({})", device.reason));
  const auto wanted = [&](const char* name) { return part == "all" || part == name; };
#if CONTORNO_HAVE_CUDA
  if (device.available && wanted("engine")) bench_engine();
#endif
  if (wanted("rate")) bench_rate();
  if (wanted("stages")) bench_stages();
  if (wanted("latency")) bench_latency();
}

}  // namespace contorno
