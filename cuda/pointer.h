// Memory, devices and streams of other libraries: the driver tells where their memory lies, and scopes select
// their device. The same functions exist in builds without CUDA.
#pragma once

#include <cstddef>
#include <cstdint>

namespace contorno {

enum class PointerKind : std::uint8_t { Unknown, Host, Device, Managed };

/// What the driver knows of an address. Unknown: nothing, as of ordinary host memory and of no memory at all.
struct PointerInfo {
  PointerKind kind = PointerKind::Unknown;
  int device = 0;
};

/// Never throws.
PointerInfo pointer_info(const void* address) noexcept;
/// Whether all of [address, address + bytes) is memory that the driver has allocated. Never throws.
bool is_allocated(const void* address, std::size_t bytes) noexcept;

/// Makes `device` the current device of this thread until the end of the scope. Throws Error(Unavailable)
/// when there is no such device.
class DeviceScope {
 public:
  explicit DeviceScope(int device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int previous_ = 0;
};

/// The current device of this thread.
int current_device();
/// Makes `device` the current one of this thread, for good. Throws Error(Unavailable) when there is no such
/// device, Error(Internal) when it failed.
void set_current_device(int device);
/// Waits for all work on a stream (cudaStream_t) that another library owns. Throws Error(Internal) when the
/// device failed.
void synchronize_stream(void* stream);

}  // namespace contorno
