#include "cuda/near_device.h"

#include <fstream>
#include <sstream>

namespace contorno {
namespace {

/// "0-3,8": the kernel's form of a list of processors.
std::vector<int> processors_in(const std::string& list) {
  std::vector<int> processors;
  std::istringstream ranges(list);
  for (std::string range; std::getline(ranges, range, ',');) {
    std::istringstream numbers(range);
    int first = 0;
    int last = 0;
    char dash = 0;
    if (!(numbers >> first)) continue;
    if (!(numbers >> dash >> last)) last = first;
    for (int one = first; one <= last && one < CPU_SETSIZE; ++one) processors.push_back(one);
  }
  return processors;
}

std::string first_line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

std::vector<int> processors_near(const std::string& sys, const std::string& pci_bus_id) {
  const std::string node = first_line_of(sys + "/bus/pci/devices/" + pci_bus_id + "/numa_node");
  if (pci_bus_id.empty() || node.empty() || node.front() == '-') return {};
  return processors_in(first_line_of(sys + "/devices/system/node/node" + node + "/cpulist"));
}

NearProcessors::NearProcessors(const std::vector<int>& processors) {
  if (processors.empty() || ::sched_getaffinity(0, sizeof before_, &before_) != 0) return;
  cpu_set_t near;
  CPU_ZERO(&near);
  for (const int one : processors)
    if (one >= 0 && one < CPU_SETSIZE && CPU_ISSET(one, &before_)) CPU_SET(one, &near);
  moved_ = CPU_COUNT(&near) > 0 && ::sched_setaffinity(0, sizeof near, &near) == 0;
}

NearProcessors::~NearProcessors() {
  if (moved_) ::sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace contorno
