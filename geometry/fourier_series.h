// Fourier series of any points on the host: the coefficients, and the curve that some of them make; and what
// all transforms share. As
// everywhere in this folder z = col + i row.
#pragma once

#include <span>
#include <vector>

#include "geometry/fourier_selection.h"

namespace contorno::fourier {

/// The roots that transforms of up to `count` points take (root_of_block).
std::vector<Complex> transform_roots(Index count);

/// c_k = (1 / N) sum_j z_j exp(-2 pi i k j / N), in the order of an FFT, k = 0, 1, ..., -2, -1; for even N
/// the frequency in the middle counts as -N / 2. Empty of no points.
std::vector<Complex> coefficients_of(std::span<const Complex> points);

/// z(t) = sum c_k exp(2 pi i k t) for each t, a time in turns, over the `terms` coefficients that are kept, 1
/// or more (all if there are no more), added from low to high frequencies. Times are finite; only their parts
/// behind the point count. `threads` as in for_tasks.
std::vector<Complex> curve_of(std::span<const Complex> coefficients, Index terms, KeptTerms keep,
                              std::span<const double> times, int threads);

}  // namespace contorno::fourier
