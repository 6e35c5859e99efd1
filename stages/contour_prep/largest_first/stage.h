// Largest first: the contours of each class by size, the largest first, and at most `limit` of each class.
//
// Input: contours of any stage.
//
// Output: contours of the same format, whole and unchanged. Contours of equal size keep their order.
//
// Memory: 44 bytes a contour of the planned capacity on the CPU, about 48 on CUDA, and the output.
#pragma once

#include <memory>

#include "geometry/ascending.h"
#include "geometry/contour_size.h"
#include "geometry/team.h"
#include "pipeline/graph/stage.h"
#include "stages/contour_prep/shared/arrays.h"
#include "stages/contour_prep/shared/outputs.h"

namespace contorno {

struct LargestFirstParams {
  ContourSize by = ContourSize::Area;
  int limit = 0;  ///< contours kept of each class; 0 = all
  bool only_first = false;
};

/// The most classes: class and size are sorted as one key of 64 bits.
inline constexpr int kMostSizedClasses = 1 << (64 - kSizeBits);

/// The format of the input, which is that of the output. Throws Error(BadConfig) when it has too many
/// classes.
const ContoursFormat& checked_contours(const PlanContext& context);

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_largest_first_cuda(const ParamSet& params);

const StageType& largest_first_stage();

// largest_first for both backends. How many contours there are is known to a device alone, so it sorts the
// whole capacity, and what is unused comes last.
//
//   ClearKeys  of what is unused, the last key
//   SizeKeys   class and size of every contour as one key, by teams
//   (sort)     stable, so that contours of one size keep their order
//   OnlyFirst  where only the largest of each class moves: the others follow it in their own order

namespace sizing {

/// Arrays with an element a contour of the capacity.
struct Sizes {
  ContoursView in;
  ContourSize by = ContourSize::Area;
  unsigned long long *keys = nullptr, *sorted_keys = nullptr;
  unsigned *contours = nullptr, *sorted = nullptr;  ///< numbers of contours, in the order of the keys

  void arrays(ArrayTaker& take, const ContoursFormat& format) {
    for (auto** one : {&keys, &sorted_keys}) take(*one, format.contour_capacity);
    for (auto** one : {&contours, &sorted}) take(*one, format.contour_capacity);
  }
};

struct ClearKeys : Sizes {
  CONTORNO_HD void operator()(unsigned i) const { contours[i] = i, keys[i] = ~0ULL; }
};

struct SizeKeys : Sizes {
  static constexpr ContourTeams kTeams = kLargeBlocks;
  static constexpr std::size_t kRoom = 0;

  CONTORNO_FOR_TEAMS
  template <class Team>
  CONTORNO_HD void operator()(const Team& team, std::uint32_t contour) const {
    constexpr unsigned long long kMost = (1ULL << kSizeBits) - 1;
    const unsigned long long size = size_in_units(team, by, in, contour);
    const unsigned long long k = part_of(in.class_begin, static_cast<unsigned>(in.format.classes), contour);
    if (team.is_first()) keys[contour] = k << kSizeBits | (kMost - size);
  }
};

/// Writes the order to `contours`, which the sort has read.
struct OnlyFirst : Sizes {
  CONTORNO_HD void operator()(unsigned i) const {
    if (!in.fits() || i >= in.counts->contours) return;
    const unsigned begin =
        in.class_begin[part_of(in.class_begin, static_cast<unsigned>(in.format.classes), i)];
    const unsigned largest = sorted[begin];
    contours[i] = i == begin ? largest : i <= largest ? i - 1 : i;
  }
};

}  // namespace sizing

/// On a backend: OnHost (on_host.h) or OnDevice (on_device.cuh).
template <class On>
class LargestFirst final : public Stage {
 public:
  explicit LargestFirst(const LargestFirstParams& params) : params_(params) {}

  void plan(PlanContext& context) override {
    const ContoursFormat& format = checked_contours(context);
    arrays_.plan(context, On::kMemory, format, sizing::Sizes{});
    sort_.plan(context, format.contour_capacity, 64);
    order_.plan(context, format);
    on_.template plan<sizing::SizeKeys>(format);
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    auto sizes = arrays_.of(context, sizing::Sizes{});
    sizes.in = std::get<ContoursView>(context.inputs[0]), sizes.by = params_.by;
    const unsigned contours = On::contours(sizes.in);
    On::for_each(context, "clear_keys", contours, sizing::ClearKeys{sizes});
    on_.each(context, "size_keys", sizes.in, sizing::SizeKeys{sizes});
    sort_.run(context, {sizes.keys, sizes.sorted_keys, sizes.contours, sizes.sorted}, contours);
    if (params_.only_first) On::for_each(context, "only_first", contours, sizing::OnlyFirst{sizes});
    order_.write_first(context, params_.only_first ? sizes.contours : sizes.sorted,
                       params_.limit > 0 ? static_cast<unsigned>(params_.limit) : ~0U);
  }

  std::optional<Scratch> selection() const override { return order_.sources(); }

 private:
  LargestFirstParams params_;
  On on_;
  PlannedArrays arrays_;
  typename On::template Sort<unsigned long long> sort_;
  typename On::Order order_;
};

}  // namespace contorno
