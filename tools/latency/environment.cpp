#include "tools/latency/environment.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>
#include <string_view>
#include <thread>

#include "cuda/device.h"
#include "tools/commit.h"

namespace contorno::latency {
namespace {

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// What the system says of the first processor under this name; empty where it says nothing.
std::string processor_fact(std::string_view name) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name) && line.find(": ") != std::string::npos)
      return line.substr(line.find(": ") + 2);
  return "";
}

std::string system_name() {
  utsname name{};
  if (uname(&name) != 0) return "";
  return fmt::format("{} {} {}", name.sysname, name.release, name.machine);
}

/// What a command prints, its lines joined; empty where there is no such command.
std::string output_of(const char* command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command, "r"),
                                                   [](FILE* file) { return pclose(file); });
  std::string text;
  std::array<char, 512> piece{};
  while (pipe && std::fgets(piece.data(), piece.size(), pipe.get()) != nullptr) text += piece.data();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (char& c : text)
    if (c == '\n') c = ';';
  return text;
}

}  // namespace

std::string device_state(const std::vector<int>& devices) {
  // nvidia-smi has an order of its own; by the bus a card is the same one everywhere.
  std::string of;
  if (device_report().devices.size() > 1)
    for (const DeviceInfo& one : device_report().devices)
      if (std::find(devices.begin(), devices.end(), one.index) != devices.end())
        of += (of.empty() ? " -i " : ",") + one.pci_bus_id;
  const std::string command =
      "nvidia-smi" + of +
      " --query-gpu=clocks.sm,clocks.max.sm,temperature.gpu,power.draw,"
      "clocks_throttle_reasons.active,utilization.gpu --format=csv,noheader 2>/dev/null";
  return output_of(command.c_str());
}

Facts environment_of(const std::vector<int>& devices) {
  Facts facts;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) facts.emplace_back(name, value);
  };
  add("contorno", CONTORNO_VERSION);
  add("commit", build_commit());
#ifdef NDEBUG
  add("build", "g++ " __VERSION__ ", without assertions");
#else
  add("build", "g++ " __VERSION__ ", with assertions");
#endif
  add("time", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))));
  add("system", system_name());
  add("processor", processor_fact("model name"));
  add("processors", std::to_string(std::thread::hardware_concurrency()));
  if (const std::string clock = processor_fact("cpu MHz"); !clock.empty())
    add("clock", fmt::format("{} MHz", clock.substr(0, clock.find('.'))));
  add("governor", first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
  // The first three numbers; the others are of processes.
  const std::string load = first_line("/proc/loadavg");
  add(kLoadAverage, load.substr(0, load.find(' ', load.find(' ', load.find(' ') + 1) + 1)));
  if (devices.empty()) return facts;
  const DeviceReport& report = device_report();
  std::string names;
  for (const DeviceInfo& one : report.devices)
    if (std::find(devices.begin(), devices.end(), one.index) != devices.end())
      names += fmt::format("{}{}, compute capability {}, {} multiprocessors", names.empty() ? "" : "; ",
                           device_label(one.index), one.compute_capability, one.multiprocessors);
  add("device", names);
  add("CUDA driver", report.driver_version);
  add("CUDA runtime", report.runtime_version);
  add("device before", device_state(devices));
  return facts;
}

}  // namespace contorno::latency
