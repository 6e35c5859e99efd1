// Pairs what two sides have, from the best pair to the worst, for host and device, without a list of pairs.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace contorno {

/// In the place of a partner: there is none.
inline constexpr std::uint32_t kNoPartner = ~0U;

/// Pairs left ones, 0 to `lefts` - 1, with right ones as if all pairs that fit were taken from the best to
/// the worst, each left and right one once; no two pairs are equally good. A chain goes from a left one to
/// its best right one, from there to that one's best left one, and so on, to pairs that are better and
/// better. So it ends with two that are the best for each other; they leave the chain, and what is left of it
/// goes on. Each step is one search, and there are at most three for each left and right one. (The same
/// chains find clusters: F. Murtagh, "A survey of recent advances in hierarchical clustering algorithms",
/// 1983.) `Sides`:
///
///   is_free(left)                              whether it has neither been paired nor left
///   best_right(left), best_left(right)         of those that were not paired; kNoPartner: none fits
///   pair(left, right), leave(left)             takes them out
///   right_before(left), left_before(right), set_...   a number each, while they are in the chain
template <class Sides>
CONTORNO_HD void pair_in_chains(std::uint32_t lefts, Sides& sides) {
  for (std::uint32_t first = 0; first < lefts; ++first) {
    if (!sides.is_free(first)) continue;
    std::uint32_t left = first, right = kNoPartner;  // the last ones of the chain
    bool left_is_last = true;
    sides.set_right_before(left, kNoPartner);
    for (;;) {
      if (left_is_last) {
        const std::uint32_t best = sides.best_right(left);
        if (best == kNoPartner) {  // nothing is before it then
          sides.leave(left);
          break;
        }
        if (best == right) {
          sides.pair(left, right);
          left = sides.left_before(right);
          right = sides.right_before(left);
        } else {
          sides.set_left_before(best, left);
          right = best, left_is_last = false;
        }
        continue;
      }
      const std::uint32_t best = sides.best_left(right);
      if (best != left) {
        sides.set_right_before(best, right);
        left = best, left_is_last = true;
        continue;
      }
      const std::uint32_t before = sides.right_before(left);
      sides.pair(left, right);
      if (before == kNoPartner) break;
      right = before, left = sides.left_before(right);
    }
  }
}

}  // namespace contorno
