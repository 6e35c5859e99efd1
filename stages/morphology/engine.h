// Runs a MorphologyPlan on the CPU. The image is cut into ranges of columns and rows, so that the rows of a
// range stay in the processor's cache while all windows of a pass are applied to them. Made once for a plan;
// `run` is const, does not allocate, and may be called by several threads, each with a scratch of its own.
// Internal.
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
  /// Into how many ranges of columns and of rows each plane is cut in a pass, and the memory that a thread
  /// needs for one.
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
  std::vector<Cut> cuts_;  ///< one a pass
  std::size_t between_bytes_ = 0, scratch_bytes_ = 0, worker_bytes_ = 0;
};

}  // namespace contorno
