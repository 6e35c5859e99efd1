// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011): a random
// number is a pure function of a counter and a key, so cells may be drawn in any order, on any thread and on
// either backend. Pure functions, no state.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace contorno {

inline constexpr std::uint32_t kPhiloxM0 = 0xD2511F53U, kPhiloxM1 = 0xCD9E8D57U;
inline constexpr std::uint32_t kPhiloxW0 = 0x9E3779B9U, kPhiloxW1 = 0xBB67AE85U;
inline constexpr std::uint32_t kPhiloxRounds = 10;

struct PhiloxKey {
  std::uint32_t low = 0, high = 0;
};
CONTORNO_HD constexpr PhiloxKey philox_key(std::uint64_t seed) {
  return {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
}

struct PhiloxWords {
  std::uint32_t word[4] = {0, 0, 0, 0};
};

CONTORNO_HD constexpr std::uint32_t philox_high(std::uint32_t a, std::uint32_t b) {
#if defined(__CUDA_ARCH__)
  return __umulhi(a, b);
#else
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(a) * b) >> 32);
#endif
}

/// Four random words of one counter.
CONTORNO_HD constexpr PhiloxWords philox(PhiloxWords counter, PhiloxKey key) {
  std::uint32_t c0 = counter.word[0], c1 = counter.word[1], c2 = counter.word[2], c3 = counter.word[3];
  for (std::uint32_t round = 0; round < kPhiloxRounds; ++round) {
    const std::uint32_t k0 = key.low + round * kPhiloxW0, k1 = key.high + round * kPhiloxW1;
    const std::uint32_t next0 = philox_high(kPhiloxM1, c2) ^ c1 ^ k0, next1 = kPhiloxM1 * c2;
    const std::uint32_t next2 = philox_high(kPhiloxM0, c0) ^ c3 ^ k1, next3 = kPhiloxM0 * c0;
    c0 = next0, c1 = next1, c2 = next2, c3 = next3;
  }
  return {{c0, c1, c2, c3}};
}

/// The first word of philox({first, x, third, fourth}) for many x. What does not depend on x in the first
/// three rounds is computed once, in the members, which leaves 15 of 20 multiplications for each x.
struct PhiloxRow {
  std::uint32_t x0 = 0, high1 = 0, low2 = 0, high2 = 0, last2 = 0;  ///< xor-ed into words of rounds 0 to 2
  PhiloxKey key;

  constexpr PhiloxRow() = default;
  CONTORNO_HD constexpr PhiloxRow(PhiloxKey k, std::uint32_t first, std::uint32_t third, std::uint32_t fourth)
      : key(k) {
    const std::uint32_t c2 = philox_high(kPhiloxM0, first) ^ fourth ^ k.high;
    x0 = philox_high(kPhiloxM1, third) ^ k.low;
    high1 = (kPhiloxM0 * first) ^ (k.high + kPhiloxW1);
    const std::uint32_t c0 = philox_high(kPhiloxM1, c2) ^ (kPhiloxM1 * third) ^ (k.low + kPhiloxW0);
    low2 = (kPhiloxM1 * c2) ^ (k.low + 2 * kPhiloxW0);
    high2 = philox_high(kPhiloxM0, c0) ^ (k.high + 2 * kPhiloxW1);
    last2 = kPhiloxM0 * c0;
  }

  CONTORNO_HD constexpr std::uint32_t operator()(std::uint32_t x) const {
    const std::uint32_t c = x ^ x0;
    const std::uint32_t d = philox_high(kPhiloxM0, c) ^ high1;
    std::uint32_t c0 = philox_high(kPhiloxM1, d) ^ low2, c1 = kPhiloxM1 * d, c2 = (kPhiloxM0 * c) ^ high2,
                  c3 = last2;
    for (std::uint32_t round = 3; round < kPhiloxRounds - 1; ++round) {
      const std::uint32_t k0 = key.low + round * kPhiloxW0, k1 = key.high + round * kPhiloxW1;
      const std::uint32_t next0 = philox_high(kPhiloxM1, c2) ^ c1 ^ k0, next1 = kPhiloxM1 * c2;
      const std::uint32_t next2 = philox_high(kPhiloxM0, c0) ^ c3 ^ k1, next3 = kPhiloxM0 * c0;
      c0 = next0, c1 = next1, c2 = next2, c3 = next3;
    }
    return philox_high(kPhiloxM1, c2) ^ c1 ^ (key.low + (kPhiloxRounds - 1) * kPhiloxW0);
  }
};

}  // namespace contorno
