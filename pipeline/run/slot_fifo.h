// First in, first out: the slots that wait for a thread. Not safe from more than one thread at a time.
#pragma once

#include <cstddef>
#include <vector>

namespace contorno {

/// Holds at most `capacity` slots; memory is taken once.
class SlotFifo {
 public:
  explicit SlotFifo(std::size_t capacity) : items_(capacity) {}
  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  void push(int slot) { items_[(first_ + count_++) % items_.size()] = slot; }
  int pop() {
    const int slot = items_[first_];
    first_ = (first_ + 1) % items_.size();
    --count_;
    return slot;
  }

 private:
  std::vector<int> items_;
  std::size_t first_ = 0, count_ = 0;
};

}  // namespace contorno
