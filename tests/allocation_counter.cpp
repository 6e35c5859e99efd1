#include "tests/allocation_counter.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::uint64_t> count = 0;

void* counted(std::size_t bytes, std::size_t alignment) {
  count.fetch_add(1, std::memory_order_relaxed);
  void* data = alignment <= alignof(std::max_align_t)
                   ? std::malloc(bytes == 0 ? 1 : bytes)
                   : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (data == nullptr) throw std::bad_alloc();
  return data;
}
}  // namespace

void* operator new(std::size_t bytes) {
  return counted(bytes, 1);
}
void* operator new[](std::size_t bytes) {
  return counted(bytes, 1);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* data) noexcept {
  std::free(data);
}
void operator delete[](void* data) noexcept {
  std::free(data);
}
void operator delete(void* data, std::size_t) noexcept {
  std::free(data);
}
void operator delete[](void* data, std::size_t) noexcept {
  std::free(data);
}
void operator delete(void* data, std::align_val_t) noexcept {
  std::free(data);
}
void operator delete[](void* data, std::align_val_t) noexcept {
  std::free(data);
}
void operator delete(void* data, std::size_t, std::align_val_t) noexcept {
  std::free(data);
}
void operator delete[](void* data, std::size_t, std::align_val_t) noexcept {
  std::free(data);
}

namespace contorno::test {
std::uint64_t allocations() {
  return count.load(std::memory_order_relaxed);
}
}  // namespace contorno::test
