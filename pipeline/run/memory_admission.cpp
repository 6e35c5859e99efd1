#include "pipeline/run/memory_admission.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>

#include "pipeline/graph/device_thread.h"

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

MemoryLeft memory_left(const std::vector<int>& devices) {
  MemoryLeft left;
  if (const auto free_kib = number_in("/proc/meminfo", "MemAvailable:")) left.host = *free_kib << 10;
  left.host = std::min({left.host, memory_left_of_groups("/sys/fs/cgroup", own_group()), addresses_left()});
  for (const int device : devices) left.devices.push_back({.device = device, .bytes = free_bytes_of(device)});
  return left;
}

namespace {

std::size_t device_bytes(const MemoryAdmission::Need& need) {
  return static_cast<std::size_t>(need.slots) * need.slot.device;
}

/// "3 cameras take 52.0 MiB of the host, and 50.0 are left" and what can be done.
std::string refusal(std::size_t cameras, const std::string& what,
                    const std::vector<MemoryAdmission::Need>& needs) {
  using Need = MemoryAdmission::Need;
  const auto most = std::max_element(needs.begin(), needs.end(), [](const Need& one, const Need& other) {
    return one.slot.total() * static_cast<std::size_t>(one.slots) <
           other.slot.total() * static_cast<std::size_t>(other.slots);
  });
  return fmt::format(
      "{} camera{} take{} {}; the most takes '{}': {} slots of {:.1f} MiB; set fewer slots in the pipeline "
      "section, or run fewer cameras",
      cameras, cameras == 1 ? "" : "s", cameras == 1 ? "s" : "", what, most->camera, most->slots,
      mebibytes(most->slot.total()));
}

/// What several devices have, where `need` fits on none of those that it may have.
std::string crowded(const MemoryAdmission::Need& need, const std::vector<DeviceRoom>& rooms) {
  const bool is_bound = *need.device != BackendRequest::kAll;
  std::string text = is_bound ? fmt::format("does not fit on device {}", *need.device) : "fits on no device";
  for (const DeviceRoom& room : rooms)
    text += fmt::format("{} {:.1f} of {:.1f} MiB of device {} are taken", &room == rooms.data() ? ":" : ",",
                        mebibytes(room.taken), mebibytes(room.bytes), room.device);
  return text;
}

}  // namespace

std::optional<std::string> MemoryAdmission::place_on_devices(std::vector<Need>& needs,
                                                             std::vector<DeviceRoom>& rooms) const {
  std::vector<std::size_t> numbers;
  std::vector<PlacementNeed> wanted;
  std::size_t sum = 0;
  for (std::size_t number = 0; number < needs.size(); ++number)
    if (const Need& need = needs[number]; need.device) {
      numbers.push_back(number);
      wanted.push_back({.bytes = device_bytes(need), .load = need.load, .device = *need.device});
      sum += device_bytes(need);
    }
  if (const auto refused = place(wanted, rooms)) {
    for (const DeviceRoom& room : rooms) sum += room.taken;
    const Need& need = needs[numbers[*refused]];
    const std::string of =
        rooms.size() == 1
            ? fmt::format("{:.1f} MiB of the device, and {:.1f} are left", mebibytes(sum),
                          mebibytes(rooms[0].bytes))
            : fmt::format("{:.1f} MiB of the devices, and '{}' with {:.1f} MiB {}", mebibytes(sum),
                          need.camera, mebibytes(device_bytes(need)), crowded(need, rooms));
    return refusal(cameras_ + needs.size(), of, needs);
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) needs[numbers[i]].device = wanted[i].device;
  return std::nullopt;
}

std::optional<std::string> MemoryAdmission::admit(std::vector<Need>& needs) {
  std::size_t host = host_;
  for (const Need& need : needs)
    host += static_cast<std::size_t>(need.slots) * (need.slot.host + need.slot.pinned);
  std::vector<Need> placed = needs;
  std::vector<DeviceRoom> rooms = left_.devices;
  if (auto refused = place_on_devices(placed, rooms)) return refused;
  if (host > left_.host)
    return refusal(
        cameras_ + needs.size(),
        fmt::format("{:.1f} MiB of the host, and {:.1f} are left", mebibytes(host), mebibytes(left_.host)),
        needs);
  needs = std::move(placed), left_.devices = std::move(rooms);
  host_ = host;
  cameras_ += needs.size();
  return std::nullopt;
}

void MemoryAdmission::lose(int device) {
  std::erase_if(left_.devices, [&](const DeviceRoom& room) { return room.device == device; });
}

}  // namespace contorno
