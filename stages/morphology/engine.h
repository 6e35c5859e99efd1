// Runs a MorphologyPlan on the CPU: the image is cut into ranges of columns and rows, each of which goes
// through all windows of a pass in cache. Planned once; `run` is const, does not allocate and may be called
// by several threads with a scratch each. Internal.
#pragma once

#include "stages/morphology/plan.h"

namespace contorno {

class MorphologyEngine {
 public:
  MorphologyEngine(MorphologyPlan plan, int threads, Simd simd);

  std::size_t scratch_bytes() const { return scratch_bytes_; }
  /// `scratch` has scratch_bytes() and kAlignment. `threads` at most those of the constructor.
  void run(const ImageView& in, const ImageView& out, std::byte* scratch, int threads) const;

 private:
  /// How a pass is cut: every item is one range of columns and rows of one plane.
  struct Cut {
    int columns = 1, rows = 1;
    std::size_t worker_bytes = 0;
  };

  Cut cut_of(const MorphologyPass& pass) const;
  template <class Rule>
  std::size_t worker_bytes(const MorphologyPass& pass, int pixels) const;
  template <class Rule>
  void run_pass(const MorphologyPass& pass, const Cut& cut, const ImageView& source, const ImageView& in,
                const ImageView& out, std::byte* scratch, int threads) const;

  MorphologyPlan plan_;
  int threads_;
  Simd simd_;
  std::vector<Cut> cuts_;  ///< of each pass
  std::size_t between_bytes_ = 0, scratch_bytes_ = 0, worker_bytes_ = 0;
};

}  // namespace contorno
