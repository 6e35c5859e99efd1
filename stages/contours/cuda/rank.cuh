// The third step of a tile: its linked segments become pieces. Pointer jumping in shared memory ranks each
// segment in its piece; then every piece finds its first segment, its largest one and its leader.
#pragma once

#include "stages/contours/cuda/pieces.cuh"

namespace contorno::contour_engine {

/// The ranking of one tile, as one of its threads sees it.
template <class T, class P, class Links, int kThreads>
class TileRanks : public TilePieces<T, P, Links, kThreads> {
 public:
  using Base = TilePieces<T, P, Links, kThreads>;
  using Base::Base;

 protected:
  using Base::job_, Base::kCapacity, Base::kEndKey, Base::s_, Base::segments_, Base::sync, Base::thread_;

  /// Pointer jumping. Before round k a link covers 2^k segments, or all up to the end of an open piece. It
  /// covers a whole closed piece as soon as it and the link that follows it have the same largest segment.
  __device__ __forceinline__ void rank() {
    if constexpr (!Links::kTwoArrays)
      segments_ <= kThreads ? rank_in_halves() : rank_in_place();
    else if (segments_ <= kFew * kThreads)
      rank_few();
    else
      rank_between();
    for (int i = thread_; i < segments_; i += kThreads) {
      s_.links.smallest_of(static_cast<unsigned>(i)) = kNone;
      s_.largest[i] = 0;
    }
    Base::share_points();
    sync();
  }

  /// Collects the smallest and largest segment of each piece at its representative: the last segment of an
  /// open piece, the largest of a closed one.
  __device__ __forceinline__ void collect_pieces() {
#pragma unroll 1
    for (int base = 0; base < segments_; base += kThreads) {
      const int i = base + thread_;
      const auto index = static_cast<unsigned>(i);
      const bool valid = i < segments_ && !is_empty(index);
      Link link{};
      if (valid) link = s_.links.settled(index);
      const unsigned representative = link.key % kEndKey;
      const unsigned large = link.key >= kEndKey ? index << 13 | link.distance : link.distance;
      if constexpr (kThreads == 32) {
        // Mostly the warp's segments are of one or two pieces.
        const unsigned peers = peers_with(valid ? representative : kNone);
        const unsigned largest = highest_among(peers, large);
        if (!valid) continue;
        if ((peers & (~peers + 1)) == 1U << (thread_ % 32))
          atomicMin(&s_.links.smallest_of(representative), index);
        if (large == largest) atomicMax(&s_.largest[representative], large);
      } else if (valid) {
        atomicMin(&s_.links.smallest_of(representative), index);
        atomicMax(&s_.largest[representative], large);
      }
    }
    sync();
  }

  /// Every piece has one leader: the segment without a predecessor if open, the largest if closed. Lists
  /// them, and marks the first segment of each piece.
  __device__ __forceinline__ void find_leaders() {
#pragma unroll 1
    for (int base = 0; base < segments_; base += kThreads) {
      const int i = base + thread_;
      const auto index = static_cast<unsigned>(i);
      bool first = false;
      bool leads_open = false;
      bool leads_closed = false;
      bool dropped = false;
      if (i < segments_ && !is_empty(index)) {
        const Link link = s_.links.settled(index);
        const unsigned representative = link.key % kEndKey;
        const bool open = link.key >= kEndKey;
        // Here `largest` is the number of segments less one.
        dropped = !open && !keep_contour(s_.largest[representative] + 1, job_.min_points);
        first = !dropped && s_.links.smallest_of(representative) == index;
        leads_open = open && (s_.joints[i] & kHasPrevious) == 0;
        leads_closed = !open && representative == index;
      }
      const unsigned word = __ballot_sync(~0U, first);
      if (thread_ % 32 == 0) s_.first[i / 32] = word;
      if (leads_open) s_.leader[atomicAdd(&s_.open, 1U)] = static_cast<unsigned short>(i);
      if (leads_closed)
        s_.leader[kCapacity - 1 - atomicAdd(&s_.closed, 1U)] =
            static_cast<unsigned short>(dropped ? index | kDropped : index);
    }
    const int words = (segments_ + kThreads - 1) / kThreads * (kThreads / 32);
    for (int i = words + thread_; i < Base::kWords; i += kThreads) s_.first[i] = 0;
    sync();
  }

 private:
  using Word = typename Links::Word;
  static constexpr int kEach = (static_cast<int>(kCapacity) + kThreads - 1) / kThreads;
  static constexpr int kFew = 4;  ///< links that a thread can keep in registers

  static __device__ __forceinline__ bool sync_any(bool value) {
    if constexpr (kThreads == 32)
      return __any_sync(~0U, value ? 1 : 0) != 0;
    else
      return __syncthreads_or(value ? 1 : 0) != 0;
  }
  __device__ __forceinline__ bool is_empty(unsigned index) const {
    const unsigned short word = s_.segment[index];
    return (word >> 12 & 3) == word >> 14;
  }

  /// One round for a link. True if it does not cover its whole piece yet.
  static __device__ __forceinline__ bool jump(Word& own, const Word& other, unsigned step) {
    const bool goes_on = !Links::has_end(own) && !Links::same_key(own, other);
    if (goes_on) own = Links::joined(own, other, step);
    return goes_on && !Links::has_end(own);
  }

  /// Ranks at most kFew links a thread, which stay in registers. Few tiles have more than two a thread.
  __device__ __forceinline__ void rank_few() {
    Word own[kFew];
#pragma unroll
    for (int k = 0; k < kFew; ++k) {
      const int i = thread_ + k * kThreads;
      own[k] = i < segments_ ? s_.links.word[i] : Links::pack({0, kEndKey, 0});
    }
    bool more = true;
#pragma unroll 1
    for (unsigned step = 1; more; step *= 2) {
      Word other[kFew];
#pragma unroll
      for (int k = 0; k < kFew; ++k)
        if (k < 2 || k * kThreads < segments_) other[k] = s_.links.word[Links::target(own[k])];
      sync();
      more = false;
#pragma unroll
      for (int k = 0; k < kFew; ++k) {
        if (k >= 2 && k * kThreads >= segments_) continue;
        more = jump(own[k], other[k], step) || more;
        if (thread_ + k * kThreads < segments_) s_.links.word[thread_ + k * kThreads] = own[k];
      }
      more = sync_any(more);
      sync();
    }
  }

  /// Ranks any number of links; rounds read one array and write the other, in turns.
  __device__ __forceinline__ void rank_between() {
    bool more = true;
    int round = 0;
    // An even number of rounds, so that the links end up where they began.
    for (; more || round % 2 != 0; ++round) {
      more = false;
      const auto* const from = s_.links.array(round);
      auto* const to = s_.links.array(round + 1);
#pragma unroll 1
      for (int i = thread_; i < segments_; i += kThreads) {
        auto own = from[i];
        more = jump(own, from[Links::target(own)], 1U << round) || more;
        to[i] = own;
      }
      more = sync_any(more);
      sync();
    }
  }

  /// Ranks one link a thread, which stays in registers. Threads publish their links in one half of the array
  /// or the other, in turns, so that one barrier a round is enough.
  __device__ __forceinline__ void rank_in_halves() {
    static_assert(2 * kThreads <= static_cast<int>(kCapacity));
    const bool valid = thread_ < segments_;
    Word own = valid ? s_.links.word[thread_] : Links::pack({0, kEndKey, 0});
    unsigned from = 0;
    bool more = true;
#pragma unroll 1
    for (unsigned step = 1; more; step *= 2) {
      const unsigned to = kCapacity / 2 - from;
      more = jump(own, s_.links.word[from + Links::target(own)], step);
      if (valid) s_.links.word[to + static_cast<unsigned>(thread_)] = own;
      more = sync_any(more);
      from = to;
    }
    if (valid) s_.links.word[thread_] = own;
  }

  /// Ranks any number of links in one array, with a barrier between reading and writing.
  __device__ __forceinline__ void rank_in_place() {
    bool more = true;
    Word words[kEach];
    for (unsigned step = 1; more; step *= 2) {
      more = false;
#pragma unroll
      for (int k = 0; k < kEach; ++k) {
        const int i = thread_ + k * kThreads;
        if (i >= segments_) break;
        words[k] = s_.links.word[i];
        more = jump(words[k], s_.links.word[Links::target(words[k])], step) || more;
      }
      more = sync_any(more);
#pragma unroll
      for (int k = 0; k < kEach; ++k) {
        const int i = thread_ + k * kThreads;
        if (i >= segments_) break;
        s_.links.word[i] = words[k];
      }
      sync();
    }
  }
};

}  // namespace contorno::contour_engine
