// Allocation of host memory for blocks: large ones in huge pages, where the system grants them on request.
// With small pages one thread reads an image at half the speed, since no prefetcher crosses a page.
#pragma once

#include <sys/mman.h>

#include <cstdlib>

#include "base/memory.h"

namespace contorno {

/// At least `bytes` of memory, aligned to kAlignment, to be freed with std::free; null when there is no
/// memory.
inline void* allocate_host(std::size_t bytes) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  const std::size_t alignment = bytes >= 4 * kHugePage ? kHugePage : kAlignment;
  const std::size_t size = align_up(bytes, alignment);
  void* data = std::aligned_alloc(alignment, size);
#ifdef MADV_HUGEPAGE
  // Only a wish: without it, or where it is refused, pages are small.
  if (data != nullptr && alignment == kHugePage) ::madvise(data, size, MADV_HUGEPAGE);
#endif
  return data;
}

}  // namespace contorno
