// Whether the memory of all cameras is there, asked before frames flow: what each takes is planned without
// taking it, and added up by kind and device. A camera that comes later is asked for by itself, on top of
// those that are there. With several devices this says, too, which one each camera gets.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/graph/planned.h"
#include "pipeline/run/placement.h"

namespace contorno {

/// Bytes that may still be taken; kUnlimited where nothing limits them.
struct MemoryLeft {
  static constexpr std::size_t kUnlimited = ~std::size_t{0};
  std::size_t host = kUnlimited;  ///< page-locked memory is of it, too
  std::vector<DeviceRoom> devices{};
};
/// What this process can take now: free memory of the machine, of its control groups and of its limits; and
/// of these devices, by their numbers. Throws Error(Internal) when one of them failed.
MemoryLeft memory_left(const std::vector<int>& devices);
/// Bytes that a control group and those around it may still take, a service's and its slice's for example.
/// `mount` is where the unified hierarchy lies, `group` the path below it.
std::size_t memory_left_of_groups(const std::string& mount, const std::string& group);

class MemoryAdmission {
 public:
  explicit MemoryAdmission(const MemoryLeft& left) : left_(left) {}

  struct Need {
    std::string camera;
    int slots = 0;
    SlotMemory slot;  ///< memory of one slot
    /// Where it works: none, on the CPU; BackendRequest::kAll: any device, and behind `admit` the one that it
    /// has.
    std::optional<int> device = std::nullopt;
    double load = 1;  ///< see PlacementNeed
  };
  /// Reserves what these cameras take together, or nothing. The result is a sentence with the sum where it is
  /// not there.
  std::optional<std::string> admit(std::vector<Need>& needs);
  /// No camera gets this device any more: it broke.
  void lose(int device);

 private:
  std::optional<std::string> place_on_devices(std::vector<Need>& needs, std::vector<DeviceRoom>& rooms) const;

  MemoryLeft left_;       // of the devices: what is taken, too
  std::size_t host_ = 0;  // reserved
  std::size_t cameras_ = 0;
};

}  // namespace contorno
