// Blocks of memory with one owner each: HostBlock (aligned, pageable), PinnedBlock (page-locked, so that
// copies to and from the device are asynchronous), DeviceBlock. Without CUDA, or where no device answers,
// PinnedBlock is ordinary host memory and DeviceBlock cannot be made. Allocation happens when a graph is
// planned, never per frame. A block may be moved from thread to thread; it is not itself synchronised.
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

/// One allocation of `size()` bytes, freed by its destructor. Throws Error(OutOfMemory) that says how much
/// was asked.
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
