#include "tests/allocation_counter.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::uint64_t> count = 0;
std::atomic<std::int64_t> live = 0;
std::atomic<std::int64_t> until_failure = 0;  ///< 1: the next one fails; 0 and less: none does
}  // namespace

// The sanitizers bring operators of their own, which find more than this counts.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
namespace {

/// Null when there is no memory, or when it is this one's turn to fail.
void* allocate(std::size_t bytes, std::size_t alignment) {
  count.fetch_add(1, std::memory_order_relaxed);
  if (until_failure.load(std::memory_order_relaxed) > 0 &&
      until_failure.fetch_sub(1, std::memory_order_relaxed) == 1)
    return nullptr;
  void* data = alignment <= alignof(std::max_align_t)
                   ? std::malloc(bytes == 0 ? 1 : bytes)
                   : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (data != nullptr) live.fetch_add(1, std::memory_order_relaxed);
  return data;
}
void* counted(std::size_t bytes, std::size_t alignment) {
  void* data = allocate(bytes, alignment);
  if (data == nullptr) throw std::bad_alloc();
  return data;
}
void release(void* data) {
  if (data != nullptr) live.fetch_sub(1, std::memory_order_relaxed);
  std::free(data);
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
  return allocate(bytes, 1);
}
void* operator new[](std::size_t bytes, const std::nothrow_t& how) noexcept {
  return operator new(bytes, how);
}
void operator delete(void* data) noexcept {
  release(data);
}
void operator delete[](void* data) noexcept {
  release(data);
}
void operator delete(void* data, std::size_t) noexcept {
  release(data);
}
void operator delete[](void* data, std::size_t) noexcept {
  release(data);
}
void operator delete(void* data, std::align_val_t) noexcept {
  release(data);
}
void operator delete[](void* data, std::align_val_t) noexcept {
  release(data);
}
void operator delete(void* data, std::size_t, std::align_val_t) noexcept {
  release(data);
}
void operator delete[](void* data, std::size_t, std::align_val_t) noexcept {
  release(data);
}
#endif

namespace contorno::test {
bool has_sanitizer() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#else
  return false;
#endif
}

std::uint64_t allocations() {
  return count.load(std::memory_order_relaxed);
}
std::int64_t live_allocations() {
  return live.load(std::memory_order_relaxed);
}

FailingAllocation::FailingAllocation(std::uint64_t number) {
  until_failure = static_cast<std::int64_t>(number);
}
FailingAllocation::~FailingAllocation() {
  until_failure = 0;
}
bool FailingAllocation::came() const {
  return until_failure <= 0;
}
}  // namespace contorno::test
