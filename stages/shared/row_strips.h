// The rows of an image in strips, one a thread, each with floats of its own: for stages on the CPU that work
// on rows in memory of theirs. Results may not depend on where strips begin.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pipeline/graph/stage.h"
#include "pipeline/shared/loops.h"

namespace contorno {

/// `count` floats, rounded up so that what follows is aligned.
inline std::size_t aligned_floats(std::size_t count) {
  return align_up(count * sizeof(float)) / sizeof(float);
}

class RowStrips {
 public:
  RowStrips() = default;
  /// Asks for `floats` for every strip.
  RowStrips(PlanContext& context, int rows, std::size_t floats)
      : rows_(rows), count_(std::max(1, std::min(context.threads(), rows))), floats_(aligned_floats(floats)) {
    memory_ = context.scratch(floats_ * sizeof(float) * static_cast<std::size_t>(count_), MemoryKind::Host);
  }

  /// f(first row, row behind the last, memory) for every strip.
  template <class F>
  void run(const RunContext& context, const F& f) const {
    for_rows(context.threads, count_, [&](int strip) {
      f(begin_of(strip), begin_of(strip + 1),
        context.scratch<float>(memory_) + floats_ * static_cast<std::size_t>(strip));
    });
  }

 private:
  int begin_of(int strip) const {
    return static_cast<int>(static_cast<std::int64_t>(rows_) * strip / count_);
  }

  int rows_ = 0, count_ = 1;
  std::size_t floats_ = 0;
  Scratch memory_;
};

}  // namespace contorno
