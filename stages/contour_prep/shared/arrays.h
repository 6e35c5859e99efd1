// Memory of a step: arrays that it needs within `run`, and tables that are computed when it is planned. Both
// are pointers in one struct, named once. On either backend.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "pipeline/graph/stage.h"
#include "stages/shared/device_table.h"

namespace contorno {

/// Gives each array its place in one block of memory. A struct of arrays has
///   void arrays(ArrayTaker& take, const ContoursFormat& format) { take(keys, format.contour_capacity); ... }
/// which is called once while the step is planned, to add up the bytes, and in every run.
class ArrayTaker {
 public:
  ArrayTaker(MemoryKind kind, std::byte* memory) : kind_(kind), memory_(memory) {}

  bool on_host() const { return kind_ == MemoryKind::Host; }
  std::size_t bytes() const { return bytes_; }
  /// `array` becomes the address of `count` elements.
  template <class T>
  void operator()(T*& array, std::size_t count) {
    array = memory_ != nullptr ? reinterpret_cast<T*>(memory_ + bytes_) : nullptr;
    bytes_ += align_up(count * sizeof(T));
  }
  template <class T>
  void operator()(std::span<T>& array, std::size_t count) {
    T* begin = nullptr;
    (*this)(begin, count);
    array = begin != nullptr ? std::span(begin, count) : std::span<T>{};
  }

 private:
  MemoryKind kind_;
  std::byte* memory_;
  std::size_t bytes_ = 0;
};

/// The memory of such a struct. A member of a stage.
class PlannedArrays {
 public:
  /// Asks for the memory, as part of the stage's plan.
  template <class Arrays>
  void plan(PlanContext& context, MemoryKind kind, const ContoursFormat& format, Arrays arrays) {
    kind_ = kind, format_ = format;
    ArrayTaker take(kind, nullptr);
    arrays.arrays(take, format);
    memory_ = context.temporary(take.bytes(), kind);
  }
  /// `arrays` with the addresses that its arrays have in the planned memory.
  template <class Arrays>
  Arrays of(const RunContext& context, Arrays arrays) const {
    ArrayTaker take(kind_, context.scratch<std::byte>(memory_));
    arrays.arrays(take, format_);
    return arrays;
  }

 private:
  MemoryKind kind_ = MemoryKind::Host;
  ContoursFormat format_;
  Scratch memory_;
};

/// Tables that frames only read.
class Tables {
 public:
  explicit Tables(MemoryKind kind) : kind_(kind) {}

  /// Copies a table to memory of the backend, and returns its address, which is valid as long as this object.
  template <class T>
  const T* keep(const std::vector<T>& table) {
    if (kind_ == MemoryKind::Device) {
      blocks_.push_back(device_table(table));
    } else {
      blocks_.emplace_back(std::max<std::size_t>(table.size(), 1) * sizeof(T), kind_);
      std::copy(table.begin(), table.end(), reinterpret_cast<T*>(blocks_.back().data()));
    }
    return table_at<T>(blocks_.back());
  }

 private:
  MemoryKind kind_;
  std::vector<Block> blocks_;
};

}  // namespace contorno
