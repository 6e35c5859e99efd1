// Which CUDA devices this machine has, or why it has none. Asked once, and never throws; the same functions
// exist in builds without CUDA.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace contorno {

struct DeviceInfo {
  int index = 0;
  std::string name;
  std::string compute_capability;  ///< "9.0"
  std::size_t total_bytes = 0;
  int multiprocessors = 0;
  std::string pci_bus_id;  ///< "0000:1b:00.0", as /sys/bus/pci/devices has it; empty: not known
};

struct DeviceReport {
  bool built_in = false;   ///< this build has the CUDA backend
  bool available = false;  ///< and a device answered
  std::string reason;      ///< why not, as a sentence; empty when available
  std::string fix;         ///< how to mend it; empty when available
  std::string runtime_version, driver_version;
  std::vector<DeviceInfo> devices;
};

/// Sets `report.reason` and `report.fix` for a machine on which no device answered. Versions are as CUDA
/// gives them (12040 = 12.4, 0 = none); `error` is what the runtime said, empty when it found no device. A
/// function of its own so that it can be tested.
void explain_absence(int runtime_version, int driver_version, const std::string& error, DeviceReport& report);

/// The report of this machine, which lives as long as the program. The first call may take some 100 ms,
/// because it starts the driver.
const DeviceReport& device_report();

/// Bytes that are free now on the current device of this thread. Begins its context. Throws Error(Internal)
/// when the device failed, and in builds without CUDA.
std::size_t free_device_bytes();

/// "NVIDIA H200", and "1 (NVIDIA H200)" where the machine has several.
std::string device_label(int index);

}  // namespace contorno
