#include "tools/commands/allocation_counter.h"

#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <new>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
namespace {

std::atomic<std::uint64_t> allocation_count = 0;
/// Threads that allocate at the same time would wait for each other's count, so it is kept only once it is
/// asked for.
std::atomic<bool> is_counting = false;

void count_allocation() {
  if (is_counting.load(std::memory_order_relaxed)) allocation_count.fetch_add(1, std::memory_order_relaxed);
}

/// The operator that this one stands before: the standard library's, or that of a library which was
/// preloaded.
template <class Function>
Function next_operator(const char* mangled_name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, mangled_name));
}

}  // namespace

// The other forms of the standard library call these two. What they give is freed by its own operators.
void* operator new(std::size_t bytes) {
  static const auto next = next_operator<void* (*)(std::size_t)>("_Znwm");
  count_allocation();
  return next(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  static const auto next = next_operator<void* (*)(std::size_t, std::align_val_t)>("_ZnwmSt11align_val_t");
  count_allocation();
  return next(bytes, alignment);
}

namespace contorno {
std::uint64_t allocations_so_far() {
  is_counting = true;
  return allocation_count.load(std::memory_order_relaxed);
}
bool counts_allocations() {
  return true;
}
}  // namespace contorno

#else

namespace contorno {
std::uint64_t allocations_so_far() {
  return 0;
}
bool counts_allocations() {
  return false;
}
}  // namespace contorno

#endif
