// Step 7, join, for few pieces of a small map: by one block, in its shared memory, with a barrier a round.
//
//   Reads   piece_links (each covers its own piece), junctions, open_pieces, the counts of chains
//   Writes  pieces and head_points; links and chains stay in shared memory
#pragma once

#include "stages/contours/cuda/join.cuh"

namespace contorno::contour_engine {

inline constexpr int kJoinThreads = 1024;
inline constexpr unsigned kJoinCapacity = 1792;  ///< pieces that one block ranks alone: what fits into 99 KiB
inline constexpr unsigned kMaxCluster = 16;

/// A chain in shared memory, where atomics of 64 bits are slow: the ids are found first, then `head` and
/// `from_last` of the pieces that have them.
struct BlockChain {
  unsigned first_id, last_id, farthest, count, head, from_last;
};

struct JoinShared {
  uint4 links[2][kJoinCapacity];
  BlockChain chains[kJoinCapacity];
  unsigned long long warp_sums[32];
  unsigned long long block_sums[kMaxCluster];
};

/// Joins and finishes all `count` open pieces, by one block in shared memory.
template <class P>
__device__ void join_in_block(const PlaneGroup<P>& group, unsigned count, JoinShared& s) {
  const Work<P>& work = group.work;
  for (unsigned i = threadIdx.x; i < count; i += kJoinThreads) {
    s.links[0][i] = pack_link(load_link(work, i));
    s.chains[i] = {~0U, 0, 0, work.chains[i].count, 0, 0};
  }
  __syncthreads();
  int now = 0;
  for (bool changed = true; changed; now ^= 1) {
    changed = false;
    for (unsigned i = threadIdx.x; i < count; i += kJoinThreads) {
      PieceLink own = unpack_link(s.links[now][i]);
      if ((own.highest & kEnd) == 0) changed = append(own, unpack_link(s.links[now][own.next])) || changed;
      s.links[now ^ 1][i] = pack_link(own);
    }
    changed = __syncthreads_or(changed ? 1 : 0) != 0;
  }
  const auto for_pieces = [&](const auto& use) {
    for (unsigned i = threadIdx.x; i < count; i += kJoinThreads) {
      const PieceLink own = unpack_link(s.links[now][i]);
      use(i, own, s.chains[own.highest & ~kEnd]);
    }
  };
  for_pieces([&](unsigned i, const PieceLink& own, BlockChain& chain) {
    atomicMin(&chain.first_id, work.open_pieces[i].first_id);
    atomicMax(&chain.last_id, work.open_pieces[i].last_id);
    atomicMax(&chain.farthest, own.distance);
  });
  __syncthreads();
  for_pieces([&](unsigned i, const PieceLink& own, BlockChain& chain) {
    const OpenPiece piece = work.open_pieces[i];
    if (chain.first_id == piece.first_id) chain.head = piece.piece;
    if (chain.last_id == piece.last_id) chain.from_last = own.distance - piece.last_rank;
  });
  __syncthreads();
  for_pieces([&](unsigned i, const PieceLink& own, const BlockChain& chain) {
    finish_piece(group, work.open_pieces[i].piece, own,
                 {chain.farthest + chain.count, chain.farthest, (own.highest & kEnd) == 0, chain.head,
                  chain.from_last});
  });
}

}  // namespace contorno::contour_engine
