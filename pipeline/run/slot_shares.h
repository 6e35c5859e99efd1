// How the slots of a run are shared out, so that nobody who may be slow has all of them.
#pragma once

#include <algorithm>

#include "pipeline/graph/graph.h"

namespace contorno {

/// The reader always has a slot to fill. Where the pipeline drops frames, another one stays out of the sinks'
/// hands, so that it is an older frame that makes room for the newest. Sinks that must not lose frames may
/// have all others; those that may lose some leave at least one of them.
struct SlotShares {
  int slots = 1;            ///< of the run
  int with_sinks = 1;       ///< slots that sinks may hold while new frames are taken on
  int a_dropping_sink = 1;  ///< slots that one sink with `on_full: drop_oldest` holds
};

/// `wanted` slots, or as many as it takes; `policy` is the decided one, and `dropping` of the `sinks` drop.
inline SlotShares share_slots(int wanted, OnFull policy, int sinks, int dropping) {
  const int kept = policy == OnFull::Wait ? 1 : 2;
  SlotShares shares;
  shares.slots = std::max({wanted, kept, dropping > 0 ? kept + dropping + 1 : 1});
  shares.with_sinks = std::max(1, shares.slots - kept);
  // A frame that waits for the only sink could no more make room for a newer one.
  if (kept > 1 && sinks == 1 && dropping == 0) shares.with_sinks = 1;
  // Half of them at most: a frame behind the one at work makes up for a short delay.
  if (dropping > 0) shares.a_dropping_sink = std::max(1, shares.with_sinks / 2 / dropping);
  return shares;
}

}  // namespace contorno
