// Step 5 of a tile, rank: linked segments become pieces.
//
//   Reads   links (of one step), flags, segment
//   Writes  links (ranked), smallest and largest of each piece at its representative, leader, first
//
// List ranking by pointer jumping (Wyllie): in every round each segment's link takes over what the link of
// the segment behind it covers, so that it covers twice as many. A tile's lists are short, so few rounds are
// needed. Closed lists have no end: a link covers a whole one as soon as it and the next have the same
// highest segment.
#pragma once

#include "stages/contours/cuda/tile.cuh"

namespace contorno::contour_engine {

/// Whether any thread of the tile has `value`. A barrier.
template <class S>
__device__ __forceinline__ bool any_of_tile(bool value) {
  if constexpr (S::kThreads == 32) {
    __syncwarp();  // a vote alone does not order memory
    return __any_sync(~0U, value ? 1 : 0) != 0;
  } else {
    return __syncthreads_or(value ? 1 : 0) != 0;
  }
}

/// One round for a link. True if it does not cover its whole piece yet.
template <class Links>
__device__ __forceinline__ bool jump(typename Links::Word& own, const typename Links::Word& other,
                                     unsigned step) {
  const bool goes_on = !Links::has_end(own) && !Links::same_highest(own, other);
  if (goes_on) own = Links::joined(own, other, step);
  return goes_on && !Links::has_end(own);
}

/// Ranks the links in place: a round reads all, and after a barrier writes all. Each thread keeps its links
/// in registers meanwhile; most tiles have one or two a thread.
template <class S>
__device__ __forceinline__ void rank_links(Tile<S>& tile) {
  using Links = typename S::Links;
  constexpr int kEach = (static_cast<int>(Links::kCapacity) + S::kThreads - 1) / S::kThreads;
  auto& word = tile.shared.links.word;
  bool more = true;
  typename Links::Word own[kEach];
  for (unsigned step = 1; more; step *= 2) {
    more = false;
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      const int i = tile.thread + k * S::kThreads;
      if (i >= tile.segments) break;
      own[k] = word[i];
      more = jump<Links>(own[k], word[Links::next(own[k])], step) || more;
    }
    more = any_of_tile<S>(more);
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      const int i = tile.thread + k * S::kThreads;
      if (i >= tile.segments) break;
      word[i] = own[k];
    }
    tile.sync();
  }
}

/// Ranks the links, and clears where pieces are collected.
template <class S>
__device__ __forceinline__ void rank_segments(Tile<S>& tile) {
  rank_links(tile);
  for (int i = tile.thread; i < tile.segments; i += S::kThreads) {
    tile.shared.links.smallest_of(static_cast<unsigned>(i)) = kNone;
    tile.shared.largest[i] = 0;
  }
}

/// Whether a segment has length zero.
template <class S>
__device__ __forceinline__ bool is_empty(const Tile<S>& tile, unsigned index) {
  const unsigned short word = tile.shared.segment[index];
  return (word >> 12 & 3) == word >> 14;
}

/// Calls f(index, has_link) for every segment of the tile, and for what is missing to whole warps, so that
/// all lanes of a warp call it together. `has_link`: there is such a segment, and it has a length.
template <class S, class F>
__device__ __forceinline__ void for_segments(const Tile<S>& tile, const F& f) {
#pragma unroll 1
  for (int base = 0; base < tile.segments; base += S::kThreads) {
    const int i = base + tile.thread;
    const auto index = static_cast<unsigned>(i);
    f(index, i < tile.segments && !is_empty(tile, index));
  }
}

/// What a segment says of the largest one of its piece, for TileShared::largest.
template <class Links>
__device__ __forceinline__ unsigned large_of(unsigned index, const SegmentLink& link) {
  return link.highest >= Links::kOpenEnd ? index << kLargestShift | link.distance : link.distance;
}

/// Collects the smallest and largest segment of each piece at its representative. Ends with a barrier.
template <class S>
__device__ __forceinline__ void collect_pieces(Tile<S>& tile) {
  using Links = typename S::Links;
  auto& s = tile.shared;
  for_segments(tile, [&](unsigned index, bool has_link) {
    SegmentLink link{};
    if (has_link) link = s.links.ranked(index);
    const unsigned representative = link.highest % Links::kOpenEnd;
    const unsigned large = large_of<Links>(index, link);
    bool smallest_of_peers = has_link, largest_of_peers = has_link;
    if constexpr (S::kThreads == 32) {
      // Mostly the warp's segments are of one or two pieces: one lane of a piece writes for all.
      const unsigned peers = peers_with(has_link ? representative : kNone);
      const unsigned largest = highest_among(peers, large);
      largest_of_peers = has_link && large == largest;
      smallest_of_peers = has_link && (peers & (~peers + 1)) == 1U << (tile.thread % 32);
    }
    if (smallest_of_peers) atomicMin(&s.links.smallest_of(representative), index);
    if (largest_of_peers) atomicMax(&s.largest[representative], large);
  });
  tile.sync();
}

/// Lists the leaders of all pieces, and marks the first segment of each piece. Ends with a barrier.
template <class S>
__device__ __forceinline__ void find_leaders(Tile<S>& tile) {
  using Links = typename S::Links;
  auto& s = tile.shared;
  for_segments(tile, [&](unsigned index, bool has_link) {
    bool first = false;
    bool leads_open = false;
    bool leads_closed = false;
    bool dropped = false;
    if (has_link) {
      const SegmentLink link = s.links.ranked(index);
      const unsigned representative = link.highest % Links::kOpenEnd;
      const bool open = link.highest >= Links::kOpenEnd;
      // Here `largest` is the number of segments less one.
      dropped = !open && !keep_contour(s.largest[representative] + 1, tile.group.min_points);
      first = !dropped && s.links.smallest_of(representative) == index;
      leads_open = open && (s.flags[index] & kHasPrevious) == 0;
      leads_closed = !open && representative == index;
    }
    const unsigned word = __ballot_sync(~0U, first);
    if (tile.thread % 32 == 0) s.first[index / 32] = word;
    if (leads_open) s.leader[atomicAdd(&s.open, 1U)] = static_cast<unsigned short>(index);
    if (leads_closed)
      s.leader[Links::kCapacity - 1 - atomicAdd(&s.closed, 1U)] =
          static_cast<unsigned short>(dropped ? index | kDropped : index);
  });
  const int words = (tile.segments + S::kThreads - 1) / S::kThreads * (S::kThreads / 32);
  constexpr int kWords = TileShared<Links>::kWords;
  for (int i = words + tile.thread; i < kWords; i += S::kThreads) s.first[i] = 0;
  tile.sync();
}

}  // namespace contorno::contour_engine
