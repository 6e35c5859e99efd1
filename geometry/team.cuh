// A warp and a block of a device as teams (team.h). Besides what every team has, device code may call
//
//   rank(), size()            the number of this thread, and how many there are
//   combine(mine, join)       the values of all threads as one: join(a, b) makes a that of both, in any order
//   all(value)                whether it is true in all threads
//   sum_before(value, all)    the sum of the values of the threads before this one; `all`: of all threads
#pragma once

#include <cstring>
#include <type_traits>

#include "cuda/sums.cuh"
#include "geometry/team.h"

namespace contorno {

/// The value of lane `lane ^ mask`, word by word.
template <class T>
__device__ __forceinline__ T of_other_lane(const T& value, unsigned mask) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(unsigned) == 0);
  unsigned words[sizeof(T) / sizeof(unsigned)];
  memcpy(words, &value, sizeof(T));
#pragma unroll
  for (unsigned& word : words) word = __shfl_xor_sync(~0U, word, static_cast<int>(mask));
  T other;
  memcpy(&other, words, sizeof(T));
  return other;
}
/// The values of all lanes by a butterfly, in the order of sum_of_lanes.
template <class T, class Join>
__device__ __forceinline__ T combine_lanes(T mine, const Join& join) {
#pragma unroll
  for (unsigned step = kWarpLanes / 2; step > 0; step /= 2) join(mine, of_other_lane(mine, step));
  return mine;
}

/// What teams of a device have in common: Team has rank(), size(), synchronise(), combine() and sum_before().
template <class Team>
class DeviceTeam {
 public:
  __device__ bool is_first() const { return self().rank() == 0; }
  template <class F>
  __device__ void each(std::uint64_t count, const F& f) const {
    for (std::uint64_t i = self().rank(); i < count; i += self().size()) f(i);
    self().synchronise();
  }
  template <class T>
  __device__ void copy(const T* from, std::uint64_t count, T* to) const {
    each(count, [=](std::uint64_t i) { to[i] = from[i]; });
  }
  template <class F>
  __device__ std::uint64_t count(std::uint64_t count, const F& f) const {
    return join<WholeSum>(count, [&](WholeSum& sum, std::uint64_t i) { sum.value += f(i) ? 1U : 0U; }).value;
  }
  template <class Sums, class Add>
  __device__ Sums join(std::uint64_t count, const Add& add) const {
    Sums mine;
    for (std::uint64_t i = self().rank(); i < count; i += self().size()) add(mine, i);
    return self().combine(mine, [](Sums& a, const Sums& b) { a.add(b); });
  }
  template <class Of, class Use>
  __device__ std::uint64_t scan(std::uint64_t count, const Of& of, const Use& use) const {
    unsigned long long before = 0;
    for (std::uint64_t first = 0; first < count; first += self().size()) {
      const std::uint64_t i = first + self().rank();
      unsigned long long all = 0;
      const unsigned long long own = i < count ? of(i) : 0ULL, before_own = self().sum_before(own, all);
      if (i < count) use(i, before + before_own);
      before += all;
    }
    self().synchronise();
    return before;
  }

 private:
  __device__ const Team& self() const { return static_cast<const Team&>(*this); }
};

struct WarpTeam : DeviceTeam<WarpTeam> {
  __device__ unsigned size() const { return kWarpLanes; }
  __device__ unsigned rank() const { return warp_lane(); }
  __device__ void synchronise() const { __syncwarp(); }
  __device__ bool all(bool value) const { return __ballot_sync(~0U, value) == ~0U; }
  template <class T>
  __device__ T sum_before(T value, T& all) const {
    return sum_before_lane(value, all);
  }
  template <class T, class Join>
  __device__ T combine(T mine, const Join& join) const {
    return combine_lanes(mine, join);
  }
  template <class Sums, class Add>
  __device__ Sums sum(std::uint64_t count, const Add& add) const {
    return this->template join<Sums>(count, add);
  }
  template <class T>
  __device__ T* room(std::uint64_t, T* elsewhere) const {
    return elsewhere;
  }
};

/// What the threads of a block tell each other.
struct alignas(16) BlockShared {
  static constexpr unsigned kMostWarps = 32, kValueBytes = 16;
  unsigned char values[kMostWarps * kValueBytes];
};

class BlockTeam : public DeviceTeam<BlockTeam> {
 public:
  /// Both lie in shared memory, the `bytes` of the room with them.
  __device__ BlockTeam(BlockShared& shared, unsigned char* room, std::size_t bytes)
      : shared_(shared), room_(room), room_bytes_(bytes) {}

  __device__ unsigned size() const { return blockDim.x; }
  __device__ unsigned rank() const { return threadIdx.x; }
  __device__ void synchronise() const { __syncthreads(); }
  __device__ bool all(bool value) const { return __syncthreads_or(value ? 0 : 1) == 0; }
  template <class T>
  __device__ T sum_before(T value, T& all) const {
    const T before = sum_before_thread(value, reinterpret_cast<T*>(shared_.values), all);
    __syncthreads();  // all have read
    return before;
  }
  template <class T, class Join>
  __device__ T combine(T mine, const Join& join) const {
    static_assert(sizeof(T) <= BlockShared::kValueBytes);
    auto* const of_warps = reinterpret_cast<T*>(shared_.values);
    mine = combine_lanes(mine, join);
    if (warp_lane() == 0) of_warps[threadIdx.x / kWarpLanes] = mine;
    __syncthreads();
    mine = of_warps[0];
    for (unsigned warp = 1; warp < blockDim.x / kWarpLanes; ++warp) join(mine, of_warps[warp]);
    __syncthreads();  // all have read
    return mine;
  }
  /// The first warp adds, whose lanes are those of the order.
  template <class Sums, class Add>
  __device__ Sums sum(std::uint64_t count, const Add& add) const {
    static_assert(sizeof(Sums) <= sizeof(BlockShared));
    auto& shared = reinterpret_cast<Sums&>(shared_.values);
    if (threadIdx.x < kWarpLanes) {
      const Sums of_warp = WarpTeam().template sum<Sums>(count, add);
      if (threadIdx.x == 0) shared = of_warp;
    }
    __syncthreads();
    const Sums sums = shared;
    __syncthreads();  // all have read
    return sums;
  }
  template <class T>
  __device__ T* room(std::uint64_t count, T* elsewhere) const {
    return count * sizeof(T) <= room_bytes_ ? reinterpret_cast<T*>(room_) : elsewhere;
  }

 private:
  BlockShared& shared_;
  unsigned char* room_;
  std::size_t room_bytes_;
};

}  // namespace contorno
