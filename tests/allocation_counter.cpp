#include "tests/allocation_counter.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::uint64_t> count = 0;
}

// The sanitizers bring operators of their own, which find more than this counts.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
namespace {

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
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  count.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t& how) noexcept {
  return operator new(bytes, how);
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
#endif

namespace contorno::test {
std::uint64_t allocations() {
  return count.load(std::memory_order_relaxed);
}
}  // namespace contorno::test
