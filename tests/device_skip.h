// Tests that need a graphics card, or several, on a machine that has none or fewer.
#pragma once

#include <cstddef>
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

/// The same where fewer devices than `wanted` answer.
inline bool skipped_without_devices(const char* what, std::size_t wanted) {
  if (device_report().devices.size() >= wanted) return false;
  std::printf("skipped: %s (fewer than %zu devices here)\n", what, wanted);
  return true;
}

}  // namespace contorno::test
