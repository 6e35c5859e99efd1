// Whether the memory of all cameras is there, asked before frames flow: what each takes is planned without
// taking it, and added up by kind. A camera that comes later is asked for by itself, on top of those that are
// there.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/graph/planned.h"

namespace contorno {

/// Bytes that may still be taken; kUnlimited where nothing limits them.
struct MemoryLeft {
  static constexpr std::size_t kUnlimited = ~std::size_t{0};
  std::size_t host = kUnlimited;  ///< page-locked memory is of it, too
  std::size_t device = kUnlimited;
};
/// What this process can take now: free memory of the machine, of its control groups and of its limits; and
/// of the first device where `backend` is Cuda.
MemoryLeft memory_left(Backend backend);
/// Bytes that a control group and those around it may still take, a service's and its slice's for example.
/// `mount` is where the unified hierarchy lies, `group` the path below it.
std::size_t memory_left_of_groups(const std::string& mount, const std::string& group);

class MemoryAdmission {
 public:
  explicit MemoryAdmission(const MemoryLeft& left) : left_(left) {}

  struct Need {
    std::string camera;
    int slots = 0;
    SlotMemory slot;  ///< of one slot
  };
  /// Reserves what these cameras take together, or nothing. The result is a sentence with the sum where it is
  /// not there.
  std::optional<std::string> admit(const std::vector<Need>& needs);

 private:
  MemoryLeft left_;
  std::size_t host_ = 0, device_ = 0;  // reserved
  std::size_t cameras_ = 0;
};

}  // namespace contorno
