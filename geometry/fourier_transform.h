// The discrete Fourier transform of any number of points, in float64, for host and device. It is contorno's
// own because CPU and CUDA must give the same bits, which no two libraries do: here every number comes from
// the same operations in the same order, whichever threads carry them out (team.h). The time is n log n for
// any n.
//
// Powers of two are transformed by radix 2. Other lengths n become a convolution of a power of two that is
// 2 n - 1 or more (Bluestein): with k j = (k^2 + j^2 - (k - j)^2) / 2,
//
//   sum_j z_j exp(-2 pi i k j / n) = conj(w_k) sum_j (z_j conj(w_j)) w_(k-j),   w_j = exp(pi i j^2 / n)
//
// Sources: J. W. Cooley and J. W. Tukey, "An algorithm for the machine calculation of complex Fourier
// series", 1965; L. I. Bluestein, "A linear filtering approach to the computation of discrete Fourier
// transform", 1970.
#pragma once

#include "geometry/complex.h"
#include "geometry/team.h"

namespace contorno::fourier {

using Index = std::uint64_t;

/// Number j with all 64 bits in reverse order.
CONTORNO_HD inline Index reversed(Index j) {
  j = (j >> 1 & 0x5555555555555555) | (j & 0x5555555555555555) << 1;
  j = (j >> 2 & 0x3333333333333333) | (j & 0x3333333333333333) << 2;
  j = (j >> 4 & 0x0f0f0f0f0f0f0f0f) | (j & 0x0f0f0f0f0f0f0f0f) << 4;
  j = (j >> 8 & 0x00ff00ff00ff00ff) | (j & 0x00ff00ff00ff00ff) << 8;
  j = (j >> 16 & 0x0000ffff0000ffff) | (j & 0x0000ffff0000ffff) << 16;
  return j >> 32 | j << 32;
}

/// The power of two in which `count` points are transformed.
CONTORNO_HD inline Index transform_size(Index count) {
  Index size = 1;
  while (size < count) size *= 2;
  if (size == count) return size;
  return size < 2 * count - 1 ? 2 * size : size;
}

/// The roots of all transforms of powers of two: exp(pi i f), of the fraction f that has the bits of j behind
/// the point, the lowest one first. So one table serves every length (fourier_series.h makes it).
CONTORNO_HD inline Complex root_of_block(Index j) {
  return root_of_turn(reversed(j) / 2);
}

// A stage of radix 2 joins the halves of each block: (a, b) becomes (a + b w, a - b w), with the root w of
// the block's number. So what is done with a block is the same for all its points. Two stages are done at a
// time, which halves the passes over the memory.

/// Replaces 2^bits numbers by sum_j data[j] exp(-2 pi i k j / 2^bits), which comes to lie at the place that
/// is k with its `bits` bits in reverse order. `roots`: root_of_block of all below 2^bits / 2.
CONTORNO_FOR_TEAMS
template <class Team>
CONTORNO_HD void to_frequencies(const Team& team, Complex* data, int bits, const Complex* roots) {
  const Index size = 1ULL << bits;
  int left = bits;  // of the places in a block
  for (; left >= 2; left -= 2) {
    const int quarter_bits = left - 2;
    const Index quarter = 1ULL << quarter_bits;
    team.each(size / 4, [=](Index i) {
      const Index block = i >> quarter_bits;
      Complex* const p = data + i + 3 * (block << quarter_bits);
      const Complex root = conjugate(roots[block]);
      const Complex c = p[2 * quarter] * root, d = p[3 * quarter] * root;
      const Complex even = p[0] + c, odd = (p[quarter] + d) * conjugate(roots[2 * block]);
      const Complex even_less = p[0] - c, odd_less = (p[quarter] - d) * conjugate(roots[2 * block + 1]);
      p[0] = even + odd, p[quarter] = even - odd;
      p[2 * quarter] = even_less + odd_less, p[3 * quarter] = even_less - odd_less;
    });
  }
  if (left == 0) return;
  team.each(size / 2, [=](Index block) {
    Complex* const p = data + 2 * block;
    const Complex b = p[1] * conjugate(roots[block]);
    p[1] = p[0] - b;
    p[0] = p[0] + b;
  });
}
/// The way back, from that order to the order of j, times 2^bits: each stage undone, the last one first.
CONTORNO_FOR_TEAMS
template <class Team>
CONTORNO_HD void from_frequencies(const Team& team, Complex* data, int bits, const Complex* roots) {
  const Index size = 1ULL << bits;
  if (bits % 2 != 0)
    team.each(size / 2, [=](Index block) {
      Complex* const p = data + 2 * block;
      const Complex b = (p[0] - p[1]) * roots[block];
      p[0] = p[0] + p[1];
      p[1] = b;
    });
  for (int quarter_bits = bits % 2; quarter_bits < bits; quarter_bits += 2) {
    const Index quarter = 1ULL << quarter_bits;
    team.each(size / 4, [=](Index i) {
      const Index block = i >> quarter_bits;
      Complex* const p = data + i + 3 * (block << quarter_bits);
      const Complex a = p[0] + p[quarter], b = (p[0] - p[quarter]) * roots[2 * block];
      const Complex c = p[2 * quarter] + p[3 * quarter],
                    d = (p[2 * quarter] - p[3 * quarter]) * roots[2 * block + 1];
      p[0] = a + c, p[quarter] = b + d;
      p[2 * quarter] = (a - c) * roots[block], p[3 * quarter] = (b - d) * roots[block];
    });
  }
}

/// The transform of one length, in memory that it does not own.
class Transform {
 public:
  /// Complex numbers of memory for each point that suffice for any length.
  static constexpr Index kMostMemory = 9;
  /// How many it needs for `count` points, 1 to 2^32 - 1.
  CONTORNO_HD static Index memory(Index count) {
    const Index size = transform_size(count);
    return size == count ? size : 2 * size + count;
  }

  /// `roots`: root_of_block of all numbers below half of transform_size(count).
  CONTORNO_HD Transform(Index count, Complex* memory, const Complex* roots)
      : count_(count), size_(transform_size(count)), data_(memory), roots_(roots) {
    while (size_ >> bits_ > 1) ++bits_;
    chirp_spectrum_ = memory + size_;
    chirp_ = chirp_spectrum_ + size_;
  }

  /// What is to be transformed, and the result: the first `count` numbers. Those behind them are overwritten.
  CONTORNO_HD Complex* data() const { return data_; }

  /// To be called once, before the first transform.
  CONTORNO_FOR_TEAMS
  template <class Team>
  CONTORNO_HD void prepare(const Team& team) const {
    Complex *const chirp_spectrum = chirp_spectrum_, *const chirp = chirp_;
    const Index count = count_, size = size_;
    if (size == count) return;
    team.each(count, [=](Index j) { chirp[j] = root_of_unity(j * j % (2 * count), 2 * count); });
    team.each(size, [=](Index j) {
      const Index apart = j < size - j ? j : size - j;
      chirp_spectrum[j] = apart < count ? chirp[apart] : Complex{};
    });
    to_frequencies(team, chirp_spectrum, bits_, roots_);
  }

  /// data()[k] becomes sum_j data()[j] exp(-2 pi i k j / count), for k = 0 to count - 1.
  CONTORNO_FOR_TEAMS
  template <class Team>
  CONTORNO_HD void run(const Team& team) const {
    Complex *const data = data_, *const chirp_spectrum = chirp_spectrum_, *const chirp = chirp_;
    const Index count = count_, size = size_;
    const int bits = bits_;
    if (size == count) {
      to_frequencies(team, data, bits, roots_);
      team.each(size, [=](Index j) {
        const Index other = j > 0 ? reversed(j) >> (64 - bits) : 0;
        if (j >= other) return;
        const Complex kept = data[j];
        data[j] = data[other];
        data[other] = kept;
      });
      return;
    }
    team.each(size, [=](Index j) { data[j] = j < count ? data[j] * conjugate(chirp[j]) : Complex{}; });
    to_frequencies(team, data, bits, roots_);
    team.each(size, [=](Index j) { data[j] = data[j] * chirp_spectrum[j]; });
    from_frequencies(team, data, bits, roots_);
    const double scale = 1 / static_cast<double>(size);
    team.each(count, [=](Index j) { data[j] = scale * (data[j] * conjugate(chirp[j])); });
  }

 private:
  Index count_, size_;
  int bits_ = 0;  ///< number of bits of a place below size_
  Complex* data_;
  const Complex* roots_;
  Complex *chirp_spectrum_ = nullptr, *chirp_ = nullptr;
};

}  // namespace contorno::fourier
