// Mean shift of points: every point climbs the density of all points until it stands still; points that meet
// are a cluster. docs/reference/mean-shift.md has the mathematics.
//
// Both backends give the same bits, because the sums of a step have an order that neither threads nor vectors
// nor the backend change (tree.h), and because weights are made of + - * only (weight.h).
//
// A MeanShift owns what it was fitted to. One thread fits; after that any number of threads may predict.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "pipeline/graph/stage.h"
#include "stages/mean_shift/rule.h"
#include "stages/shared/simd.h"

namespace contorno {

enum class MeanShiftStop : std::uint8_t {
  PerPoint,   ///< a point rests when its step is shorter than eps * sigma
  Frobenius,  ///< all points rest when the root of the sum of their squared steps is below eps (Spyrou)
};
enum class MeanShiftCut : std::uint8_t {
  Sigmas,        ///< the Gaussian ends at cut * sigma
  SigmaSquared,  ///< the Gaussian ends at a distance of sigma^2, as in Spyrou's program: depends on the unit
};
enum class MeanShiftPrecision : std::uint8_t {
  Auto,  ///< float32 while it resolves 1e-4 sigma everywhere, float64 beyond
  Float32,
  Float64,
};

/// What a fit computes. Lengths are in the units of the points.
struct MeanShiftParams {
  double sigma = 1;  ///< Gaussian: standard deviation; flat and Epanechnikov: radius (the bandwidth)
  MeanShiftKernel kernel = MeanShiftKernel::Gaussian;
  double cut = 3;  ///< Gaussian only: points at cut * sigma or farther have no weight
  MeanShiftCut cut_rule = MeanShiftCut::Sigmas;
  MeanShiftStop stop = MeanShiftStop::PerPoint;
  double eps = 1e-3;  ///< see MeanShiftStop
  int max_iterations = 300;
  double merge = 0.5;         ///< ends closer than merge * sigma belong together, also through others
  std::int64_t min_size = 1;  ///< smaller clusters are dissolved: their points get label -1
};

/// Device memory for fits on CUDA, kept from fit to fit. It serves one fit at a time, on the device that was
/// current when it was first used.
class MeanShiftMemory {
 public:
  MeanShiftMemory();
  ~MeanShiftMemory();
  MeanShiftMemory(const MeanShiftMemory&) = delete;
  MeanShiftMemory& operator=(const MeanShiftMemory&) = delete;

  struct Parts;
  Parts& parts() { return *parts_; }

 private:
  std::unique_ptr<Parts> parts_;
};

struct MeanShiftOptions {
  Backend backend = Backend::Auto;
  int threads = 0;  ///< 0 = as many as the machine has
  MeanShiftPrecision precision = MeanShiftPrecision::Auto;
  std::optional<Simd> simd{};  ///< the widest instructions that are used; results have the same bits with any
  void* stream = nullptr;      ///< cudaStream_t for the climb; null: one of the memory's own
  MeanShiftMemory* memory = nullptr;  ///< the caller's; null: the MeanShift's own
};

struct MeanShiftResult {
  int dims = 0;
  std::vector<double> points;        ///< N x dims: where each point came to rest
  std::vector<int> labels;           ///< N: cluster of each point, numbered by first appearance; -1 = none
  std::vector<double> modes;         ///< K x dims: mean of where the cluster's points came to rest
  std::vector<std::int64_t> counts;  ///< K: points of each cluster
  int iterations = 0;                ///< the most steps that a point took
  double residual = 0;  ///< longest last step, in sigmas; with Frobenius the last norm, in the points' units
  bool converged = true;           ///< false: max_iterations ended it
  Backend backend = Backend::Cpu;  ///< that really ran
  MeanShiftPrecision precision = MeanShiftPrecision::Float32;
  double climb_us = 0;  ///< time of the climb alone; on CUDA that of the device
};

class MeanShift {
 public:
  /// Throws Error(BadOption) for parameters out of range, Error(Unavailable) for a backend that is not here.
  explicit MeanShift(const MeanShiftParams& params, const MeanShiftOptions& options = {});
  ~MeanShift();
  MeanShift(MeanShift&&) noexcept;
  MeanShift& operator=(MeanShift&&) noexcept;

  /// `points`: N x dims values, row by row; N may be 0; dims 1 to 512. `device_points`: null, or memory of
  /// the device where a fit on CUDA also leaves the result's points. Throws Error(BadData) for values that
  /// are not finite.
  MeanShiftResult fit(std::span<const double> points, int dims, double* device_points = nullptr);

  /// Lets new points climb the density of the fitted ones; each gets the label of the nearest end of a fitted
  /// point, -1 where none is closer than merge * sigma. A fitted point gets its own label back.
  std::vector<int> predict(std::span<const double> points) const;

  static constexpr int kMaxDims = 512;

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

enum class BandwidthRule : std::uint8_t {
  MeanNeighbour,    ///< mean distance to the (quantile * N)-th neighbour, itself included: scikit-learn's
  MedianNeighbour,  ///< median of the same
  Silverman,        ///< (4 / ((d + 2) N))^(1 / (d + 4)) times the mean standard deviation
};

/// A bandwidth for `points` (N x dims, N at least 1). Neighbour rules take N^2 distances; beyond
/// `most_samples` points they measure from that many, evenly spaced, to all. Throws Error(BadData,
/// BadOption).
double estimate_bandwidth(std::span<const double> points, int dims,
                          BandwidthRule rule = BandwidthRule::MeanNeighbour, double quantile = 0.3,
                          std::size_t most_samples = 5000, int threads = 0);

}  // namespace contorno
