// The rows of an image cut into strips, one a thread, each with scratch memory of its own: for CPU stages
// that need a few rows of floats. Results must not depend on where strips begin.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pipeline/graph/stage.h"
#include "pipeline/shared/loops.h"

namespace contorno {

/// `count`, rounded up to a number of floats that fills a multiple of kAlignment bytes.
inline std::size_t aligned_floats(std::size_t count) {
  return align_up(count * sizeof(float)) / sizeof(float);
}

class RowStrips {
 public:
  RowStrips() = default;
  /// Asks for temporary memory of `floats` floats for every strip.
  RowStrips(PlanContext& context, int rows, std::size_t floats)
      : rows_(rows), count_(std::max(1, std::min(context.threads(), rows))), floats_(aligned_floats(floats)) {
    memory_ = context.temporary(floats_ * sizeof(float) * static_cast<std::size_t>(count_), MemoryKind::Host);
  }

  /// Calls f(first row, row after the last, memory of the strip) for every strip, in parallel.
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
