// Memory that others allocated: where it lies and how large it is, asked of the driver, and work on a device
// and on streams that others chose. The same symbols with and without CUDA.
#pragma once

#include <cstddef>
#include <cstdint>

namespace contorno {

enum class PointerKind : std::uint8_t { Unknown, Host, Device, Managed };

/// What the driver knows of an address; Unknown: nothing (ordinary host memory, or no memory at all).
struct PointerInfo {
  PointerKind kind = PointerKind::Unknown;
  int device = 0;
};

/// Never throws.
PointerInfo pointer_info(const void* address) noexcept;
/// Whether all of [address, address + bytes) is memory that the driver has allocated. Never throws.
bool is_allocated(const void* address, std::size_t bytes) noexcept;

/// Until the end of the scope this thread works on `device`. Throws Error(Unavailable) when there is no such.
class DeviceScope {
 public:
  explicit DeviceScope(int device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int previous_ = 0;
};

/// Of this thread.
int current_device();
/// Waits for everything that was enqueued on a stream which somebody else owns. Throws Error(Internal).
void synchronize_stream(void* stream);

}  // namespace contorno
