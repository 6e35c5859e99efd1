// Blocks of memory with one owner each, of three kinds: Host (pageable), Pinned (page-locked, so that copies
// to and from the device are asynchronous) and Device. Without CUDA, or where no device answers, Pinned is
// ordinary host memory and Device blocks cannot be made. Blocks are allocated when a graph is planned, never
// for a frame. A block may be moved from thread to thread; access to it is not synchronised.
#pragma once

#include <cstddef>
#include <cstdint>

namespace contorno {

enum class MemoryKind : std::uint8_t { Host, Pinned, Device };

/// Rows, planes and arrays start at multiples of this many bytes.
inline constexpr std::size_t kAlignment = 256;

constexpr std::size_t align_up(std::size_t bytes, std::size_t alignment = kAlignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// One allocation of `size()` bytes, aligned to kAlignment, which the destructor frees. The constructor
/// throws Error(OutOfMemory) that says how much was asked for.
class Block {
 public:
  Block() = default;
  Block(std::size_t bytes, MemoryKind kind);
  ~Block() { release(); }
  Block(Block&& other) noexcept : data_(other.data_), size_(other.size_), kind_(other.kind_) {
    other.data_ = nullptr;
    other.size_ = 0;
  }
  Block& operator=(Block&& other) noexcept {
    if (this != &other) {
      release();
      data_ = other.data_, size_ = other.size_, kind_ = other.kind_;
      other.data_ = nullptr, other.size_ = 0;
    }
    return *this;
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  MemoryKind kind() const { return kind_; }

 private:
  void release() noexcept;

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  MemoryKind kind_ = MemoryKind::Host;
};

}  // namespace contorno
