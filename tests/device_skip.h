// Tests that need a graphics card, on a machine that has none.
#pragma once

#include <cstdio>

#include "cuda/device.h"

namespace contorno::test {

/// Whether the test `what` has to be left out because no device answers. Says so in a line that tools/test
/// counts.
inline bool skipped_without_device(const char* what) {
  if (device_report().available) return false;
  std::printf("skipped: %s (no device here)\n", what);
  return true;
}

}  // namespace contorno::test
