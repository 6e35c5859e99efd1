// Steps that work on one contour at a time (per_contour.h) on the device, and what launches them.
#pragma once

#include <algorithm>

#include "cuda/thrust.cuh"
#include "pipeline/value/copy_contours.h"
#include "stages/contour_prep/shared/contour_teams.cuh"
#include "stages/contour_prep/shared/per_contour.h"

namespace contorno {

/// How the kernels of contour_teams.cuh are launched.
class TeamLaunch {
 public:
  /// Asks the device how large it is, as part of a stage's plan, for calls of this type and others. A grid
  /// has no more teams than `contours`, of which there may be fewer: blocks without work take time to start.
  template <class Call>
  void plan(std::uint64_t contours) {
    multiprocessors_ = multiprocessors(), contours_ = contours;
    constexpr ContourTeams kTeams = Call::kTeams;
    if constexpr (Call::kRoom > 0 && kTeams.few != kWarpLanes)
      allow_shared("contours_by_blocks", contours_by_blocks<Call, kTeams.few>,
                   shared_bytes<Call, kTeams.few>());
    if constexpr (Call::kRoom > 0 && kTeams.long_from != ContourTeams::kNever)
      allow_shared("contours_by_blocks", contours_by_blocks<Call, kTeams.many>,
                   shared_bytes<Call, kTeams.many>());
  }
  /// Enqueues the calls on `stream` (cudaStream_t): of long contours first. `name` is for messages.
  template <class Call>
  void operator()(const char* name, const ContoursView& contours, const Call& call, void* stream) const {
    constexpr ContourTeams kTeams = Call::kTeams;
    if constexpr (kTeams.long_from != ContourTeams::kNever)
      by_blocks<kTeams.many>(name, contours, call, stream, kTeams.long_from, ContourTeams::kNever);
    if constexpr (kTeams.few == kWarpLanes)
      launch(name, contours_by_warps<Call>, LaunchKind::Plain, LaunchOrder::AfterPrevious,
             blocks(kArrayThreads, kArrayThreads / kWarpLanes), kArrayThreads, 0, stream, contours, call,
             kTeams.long_from);
    else
      by_blocks<kTeams.few>(name, contours, call, stream, 0, kTeams.long_from);
  }

 private:
  template <class Call, unsigned kThreads>
  static constexpr std::size_t shared_bytes() {
    return sizeof(ByBlocksShared<kThreads>) + Call::kRoom;
  }
  template <unsigned kThreads, class Call>
  void by_blocks(const char* name, const ContoursView& contours, const Call& call, void* stream,
                 unsigned least, unsigned end) const {
    launch(name, contours_by_blocks<Call, kThreads>, LaunchKind::Plain, LaunchOrder::AfterPrevious,
           blocks(kThreads, 1), kThreads, shared_bytes<Call, kThreads>(), stream, contours, call, least, end);
  }
  /// How many blocks to launch, each with `threads` threads in `teams` teams: no more than run at the same
  /// time.
  unsigned blocks(unsigned threads, unsigned teams) const {
    const unsigned most = kThreadsOfMultiprocessor / threads * multiprocessors_;
    return static_cast<unsigned>(std::clamp<std::uint64_t>((contours_ + teams - 1) / teams, 1, most));
  }

  static constexpr unsigned kThreadsOfMultiprocessor = 1024;
  unsigned multiprocessors_ = 1;
  std::uint64_t contours_ = 1;
};

/// The device; OnHost (on_host.h) has the same names.
struct OnDevice {
  static constexpr Backend kBackend = Backend::Cuda;
  static constexpr MemoryKind kMemory = MemoryKind::Device;
  static constexpr MemoryKind kAnswers = MemoryKind::Pinned;
  using Choice = DeviceChoice;
  using Selection = DeviceSelection;
  using Places = DeviceNewPoints;
  using Order = ContourOrder;
  using Sum = PrefixSum;
  using SegmentSort = KeySort;
  template <class Key>
  using Sort = PairSort<Key>;

  static unsigned contours(const ContoursView& in) {
    return static_cast<unsigned>(in.format.contour_capacity);
  }
  template <class F>
  static void for_each(const RunContext& context, const char* name, std::size_t count, const F& f) {
    for_each_number(name, context.stream, count, f);
  }
  static void copy(const RunContext& context, const ContoursView& from, const ContoursView& to) {
    copy_contours_async(from, to, context.stream);
  }
  template <class Call>
  void plan(const ContoursFormat& format) {
    launch_.plan<Call>(format.contour_capacity);
  }
  template <class Call>
  void each(const RunContext& context, const char* name, const ContoursView& contours,
            const Call& call) const {
    launch_(name, contours, call, context.stream);
  }
  template <class Call>
  void each_briefly(const RunContext& context, const char* name, const ContoursView& contours,
                    const Call& call) const {
    each(context, name, contours, call);
  }

 private:
  TeamLaunch launch_;
};

template <class Step>
std::unique_ptr<Stage> make_on_device(const ParamSet& params) {
  return make_per_contour<Step, OnDevice>(params);
}

}  // namespace contorno
