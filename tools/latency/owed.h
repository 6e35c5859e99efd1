// What a live source owed: the frames that it sent, and between and behind them those that were due at its
// rate and that it did not send, because something held it up.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/media/timed_pipeline.h"

namespace contorno::latency {

/// A frame that was due. Times are now_ns() values.
struct DueFrame {
  std::int64_t due_ns = 0;
  std::int64_t left_ns = 0;  ///< when it left the source; 0: it never did
  std::int64_t pts_ns = 0;   ///< the time by which a frame that left is known
};

/// The rate of a live source: that of the caps on the way, else that of the times of `frames`, where nearly
/// all of them follow each other in equal steps; 0 where neither says one.
double rate_of_source(const std::vector<PassedElement>& way, const std::vector<DueFrame>& frames);

/// `frames` in the order in which they were due, with those that a source of `rate` frames a second owed
/// between them, and behind them up to `end_ns` (0: it came to its end, and owed no more). What was due
/// before `begin_ns` is not owed. Throws Error(BadOption) where these are too many to be kept.
std::vector<DueFrame> with_owed(std::vector<DueFrame> frames, double rate, std::int64_t begin_ns,
                                std::int64_t end_ns);

}  // namespace contorno::latency
