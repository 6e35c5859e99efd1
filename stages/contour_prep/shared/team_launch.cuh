// How the kernels of contour_teams.cuh are launched.
#pragma once

#include "stages/contour_prep/shared/contour_teams.cuh"

namespace contorno {

class TeamLaunch {
 public:
  /// Asks the device how large it is, as part of a stage's plan, for calls of this type and others.
  template <class Call>
  void plan() {
    multiprocessors_ = multiprocessors();
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
             blocks(kArrayThreads), kArrayThreads, 0, stream, contours, call, kTeams.long_from);
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
           blocks(kThreads), kThreads, shared_bytes<Call, kThreads>(), stream, contours, call, least, end);
  }
  /// As many as run at the same time.
  unsigned blocks(unsigned threads) const { return kThreadsOfMultiprocessor / threads * multiprocessors_; }

  static constexpr unsigned kThreadsOfMultiprocessor = 1024;
  unsigned multiprocessors_ = 1;
};

}  // namespace contorno
