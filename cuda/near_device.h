// Memory of the host near a device: on a machine with several memory nodes, memory lies on the node of the
// thread that asks for it, and copies to a device of another node are slower. Linux says in /sys which
// processors are near a device.
#pragma once

#include <sched.h>

#include <string>
#include <vector>

namespace contorno {

/// The processors of the node that a device on the PCI bus is attached to ("0000:1b:00.0"); none where the
/// system knows no node. `sys` is where sysfs lies, "/sys".
std::vector<int> processors_near(const std::string& sys, const std::string& pci_bus_id);

/// Until the end of the scope this thread runs on those of the processors on which it may run now. Does
/// nothing where there are none, or where the system refuses.
class NearProcessors {
 public:
  explicit NearProcessors(const std::vector<int>& processors);
  ~NearProcessors();
  NearProcessors(const NearProcessors&) = delete;
  NearProcessors& operator=(const NearProcessors&) = delete;

 private:
  cpu_set_t before_{};
  bool moved_ = false;
};

}  // namespace contorno
