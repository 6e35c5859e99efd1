// The download of arrays whose lengths only the device knows. A kernel writes them to page-locked host
// memory: the host need not wait for the lengths to ask for a copy, and no byte that is not used is
// transferred. Without a CUDA header; in builds without CUDA the function throws.
#pragma once

#include <cstddef>
#include <cstdint>

namespace contorno {

/// An array in device memory and where it goes in page-locked host memory, both aligned to 16 bytes.
struct CountedArray {
  const void* from = nullptr;
  void* to = nullptr;
  std::uint32_t element = 1;             ///< bytes
  std::uint32_t more = 0;                ///< it has *count + more elements
  const std::uint64_t* count = nullptr;  ///< in device memory; null stands for 0
};

/// A count in device memory and what it must not exceed for arrays to be valid.
struct CountLimit {
  const std::uint64_t* count = nullptr;
  std::uint64_t capacity = 0;
};

/// The elements of an array of words at `size` places: to[i] = from[index[i]]. All but `to` in device memory.
struct GatheredWords {
  const std::uint32_t* from = nullptr;
  std::uint32_t* to = nullptr;
  const std::uint32_t* index = nullptr;
  std::uint32_t size = 0;
};

inline constexpr std::size_t kMostCountedArrays = 5, kMostCountLimits = 2;

/// What copy_counted copies.
struct CountedCopy {
  CountLimit limits[kMostCountLimits];
  CountedArray arrays[kMostCountedArrays];
  GatheredWords gathered;
};

/// Enqueues the copy on `stream` (cudaStream_t). When a count exceeds its limit only the arrays without a
/// count are copied.
void copy_counted(const CountedCopy& copy, void* stream);

}  // namespace contorno
