#include "pipeline/run/memory_admission.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>

#include "cuda/device.h"

namespace contorno {
namespace {

/// The number that follows `key` in a file of the kernel.
std::optional<std::size_t> number_in(const std::string& path, const std::string& key = {}) {
  std::ifstream file(path);
  std::string word;
  std::size_t number = 0;
  if (key.empty()) return file >> number ? std::make_optional(number) : std::nullopt;
  while (file >> word)
    if (word == key) return file >> number ? std::make_optional(number) : std::nullopt;
  return std::nullopt;
}

std::size_t left_of(std::optional<std::size_t> limit, std::optional<std::size_t> used) {
  if (!limit || !used) return MemoryLeft::kUnlimited;
  return *limit > *used ? *limit - *used : 0;
}

/// What is left of the addresses that `ulimit -v` allows, in bytes.
std::size_t addresses_left() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return MemoryLeft::kUnlimited;
  const auto pages = number_in("/proc/self/statm");
  if (!pages) return MemoryLeft::kUnlimited;
  return left_of(limit.rlim_cur, *pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
}

/// The control group of this process below its mount: the line "0::/PATH" of the unified hierarchy.
std::string own_group() {
  std::ifstream file("/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line))
    if (line.starts_with("0::/")) return line.substr(4);
  return {};
}

double mebibytes(std::size_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

}  // namespace

std::size_t memory_left_of_groups(const std::string& mount, const std::string& group) {
  std::size_t left = MemoryLeft::kUnlimited;
  for (std::filesystem::path path = std::filesystem::path(group).relative_path();;
       path = path.parent_path()) {
    const std::string folder = (std::filesystem::path(mount) / path).string() + "/";
    const auto used = number_in(folder + "memory.current");
    // Files that were read or written and can be forgotten at any time count as used there.
    const std::size_t cached = number_in(folder + "memory.stat", "inactive_file").value_or(0);
    if (used)
      left = std::min(left, left_of(number_in(folder + "memory.max"), *used - std::min(*used, cached)));
    if (path.empty()) return left;
  }
}

MemoryLeft memory_left(Backend backend) {
  MemoryLeft left;
  if (const auto free_kib = number_in("/proc/meminfo", "MemAvailable:")) left.host = *free_kib << 10;
  left.host = std::min({left.host, memory_left_of_groups("/sys/fs/cgroup", own_group()), addresses_left()});
  if (backend == Backend::Cuda && !device_report().devices.empty())
    left.device = device_report().devices[0].free_bytes;
  return left;
}

std::optional<std::string> MemoryAdmission::admit(const std::vector<Need>& needs) {
  std::size_t host = host_, device = device_;
  for (const Need& need : needs) {
    const auto slots = static_cast<std::size_t>(need.slots);
    host += slots * (need.slot.host + need.slot.pinned);
    device += slots * need.slot.device;
  }
  const bool lacks_device = device > left_.device;
  if (host <= left_.host && !lacks_device) {
    host_ = host, device_ = device;
    cameras_ += needs.size();
    return std::nullopt;
  }
  const auto most = std::max_element(needs.begin(), needs.end(), [](const Need& one, const Need& other) {
    return one.slot.total() * static_cast<std::size_t>(one.slots) <
           other.slot.total() * static_cast<std::size_t>(other.slots);
  });
  const std::size_t count = cameras_ + needs.size();
  return fmt::format(
      "{} camera{} take{} {:.1f} MiB {}, and {:.1f} are left; the most takes '{}': {} slots of {:.1f} MiB; "
      "set "
      "fewer slots in the pipeline section, or run fewer cameras",
      count, count == 1 ? "" : "s", count == 1 ? "s" : "", mebibytes(lacks_device ? device : host),
      lacks_device ? "of the device" : "of the host", mebibytes(lacks_device ? left_.device : left_.host),
      most->camera, most->slots, mebibytes(most->slot.total()));
}

}  // namespace contorno
