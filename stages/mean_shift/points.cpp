#include "stages/mean_shift/points.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>

#include "base/error.h"
#include "cuda/device.h"
#include "pipeline/shared/threads.h"
#include "stages/mean_shift/climb.h"
#include "stages/mean_shift/frame.h"

namespace contorno {
namespace {

constexpr double kMostSpanFloat = 1024;  // of coordinates in units of the tree: float32 then resolves 1e-4
constexpr double kMostSpan = 1e12;

void check(double value, double low, double high, const char* name) {
  if (!(value >= low && value <= high))
    throw Error(ExitCode::BadOption,
                fmt::format("mean shift: {} is {}, allowed {} to {}", name, value, low, high));
}

void check(const MeanShiftParams& params) {
  check(params.sigma, 1e-100, 1e100, "sigma");
  check(params.cut, 1e-3, 1e3, "cut");
  check(params.eps, 0, 1e100, "eps");
  check(params.max_iterations, 1, 1e9, "max_iterations");
  check(params.merge, 1e-6, 1e3, "merge");
  check(static_cast<double>(params.min_size), 1, 1e18, "min_size");
}

Backend settle(Backend wanted) {
  const DeviceReport& report = device_report();
  if (wanted == Backend::Cuda && !report.available)
    throw Error(ExitCode::Unavailable, "mean shift: backend is cuda, but " + report.reason);
  if (wanted == Backend::Auto) return report.available ? Backend::Cuda : Backend::Cpu;
  return wanted;
}

/// What a fit leaves behind for predict.
template <class T>
struct Fitted {
  MeanShiftTree<T> tree, ends;
  MeanShiftRule<T> rule;
  T merge_limit = 0;
};

}  // namespace

class MeanShift::Impl {
 public:
  Impl(const MeanShiftParams& params, const MeanShiftOptions& options)
      : params_(params),
        options_(options),
        backend_(settle(options.backend)),
        threads_(decided_threads(options.threads)),
        simd_(best_simd()) {
    check(params);
    if (options.simd && *options.simd < simd_) simd_ = *options.simd;
  }

  MeanShiftResult fit(std::span<const double> points, int dims, double* device_points) {
    const std::size_t count = count_of(points, dims);
    dims_ = dims, labels_.clear();
    MeanShiftResult result{.dims = dims, .backend = backend_};
    if (count == 0) return result;
    frame_ = MeanShiftFrame(points, static_cast<std::size_t>(dims), params_.sigma);
    double span = 0;
    for (std::size_t i = 0; i < points.size(); ++i)
      span = std::max(span, std::abs(frame_.to_tree(points[i], i % static_cast<std::size_t>(dims))));
    if (!(span <= kMostSpan))
      throw Error(ExitCode::BadData, fmt::format("mean shift: the points span {:.3g} sigma, allowed {:.0g}",
                                                 span * frame_.unit / params_.sigma, kMostSpan));
    const bool wide = options_.precision == MeanShiftPrecision::Float64 ||
                      (options_.precision == MeanShiftPrecision::Auto && span > kMostSpanFloat);
    result.precision = wide ? MeanShiftPrecision::Float64 : MeanShiftPrecision::Float32;
    if (wide)
      fit_as(double_, points, result, device_points);
    else
      fit_as(float_, points, result, device_points);
    wide_ = wide;
    labels_ = result.labels;
    return result;
  }

  std::vector<int> predict(std::span<const double> points) const {
    if (dims_ == 0) throw Error(ExitCode::BadOption, "mean shift: predict was called before fit");
    const std::size_t count = count_of(points, dims_);
    if (labels_.empty()) return std::vector<int>(count, -1);
    return wide_ ? predict_as(double_, points) : predict_as(float_, points);
  }

 private:
  static std::size_t count_of(std::span<const double> points, int dims) {
    if (dims < 1 || dims > kMaxDims)
      throw Error(ExitCode::BadData,
                  fmt::format("mean shift: the points have {} dimensions, allowed 1 to {}", dims, kMaxDims));
    const std::size_t count = points.size() / static_cast<std::size_t>(dims);
    if (points.size() % static_cast<std::size_t>(dims) != 0)
      throw Error(ExitCode::BadData,
                  fmt::format("mean shift: {} values are no whole number of points of {} dimensions",
                              points.size(), dims));
    if (count > (std::size_t{1} << 30U))
      throw Error(ExitCode::BadData, fmt::format("mean shift: {} points, allowed up to 2^30", count));
    for (std::size_t i = 0; i < points.size(); ++i)
      if (!std::isfinite(points[i]))
        throw Error(ExitCode::BadData,
                    fmt::format("mean shift: value {} of point {} is not finite",
                                i % static_cast<std::size_t>(dims), i / static_cast<std::size_t>(dims)));
    return count;
  }

  template <class T>
  MeanShiftRule<T> rule_as() const {
    const double sigma = params_.sigma / frame_.unit;
    MeanShiftRule<T> rule{.most = params_.max_iterations, .kernel = params_.kernel};
    switch (params_.kernel) {
      case MeanShiftKernel::Gaussian: {
        const double cut =
            params_.cut_rule == MeanShiftCut::Sigmas ? params_.cut * sigma : params_.sigma * sigma;
        const double scale = -std::numbers::log2e / (2 * sigma * sigma);
        rule.scale = static_cast<T>(scale);
        // Beyond the second the weight is less than the type can hold beside others.
        rule.limit = static_cast<T>(std::min(cut * cut, static_cast<double>(Exp2Least<T>::value) / scale));
        break;
      }
      case MeanShiftKernel::Flat:
        // "Not farther than", as in scikit-learn.
        rule.limit = std::nextafter(static_cast<T>(sigma * sigma), std::numeric_limits<T>::max());
        break;
      case MeanShiftKernel::Epanechnikov:
        rule.limit = static_cast<T>(sigma * sigma);
        rule.scale = static_cast<T>(-1 / (sigma * sigma));
        break;
    }
    const double stop =
        params_.stop == MeanShiftStop::PerPoint ? params_.eps * sigma : params_.eps / frame_.unit;
    rule.stop = static_cast<T>(stop * stop);
    return rule;
  }

  template <class T>
  struct Exp2Least {
    static constexpr double value = std::is_same_v<T, float> ? -125 : -1000;
  };

  template <class T>
  std::vector<T> to_tree(std::span<const double> points) const {
    std::vector<T> inside(points.size());
    const auto dims = static_cast<std::size_t>(dims_);
    for (std::size_t i = 0; i < points.size(); ++i)
      inside[i] = static_cast<T>(frame_.to_tree(points[i], i % dims));
    return inside;
  }

  template <class T>
  ClimbSummary climb(const ClimbTask<T>& task, [[maybe_unused]] double* device_points) {
#if defined(CONTORNO_HAVE_CUDA)
    if (backend_ == Backend::Cuda) {
      if (options_.memory == nullptr) options_.memory = (memory_ = std::make_unique<MeanShiftMemory>()).get();
      return climb_on_cuda(task, {*options_.memory, options_.stream, device_points, frame_});
    }
#endif
    return climb_on_cpu(task, threads_, simd_);
  }

  template <class T>
  void fit_as(Fitted<T>& fitted, std::span<const double> points, MeanShiftResult& result,
              double* device_points) {
    const std::vector<T> starts = to_tree<T>(points);
    std::vector<T> ends(starts.size());
    const int count = static_cast<int>(starts.size() / static_cast<std::size_t>(dims_));
    fitted.tree = make_mean_shift_tree(starts.data(), count, dims_);
    fitted.rule = rule_as<T>();
    const auto begin = std::chrono::steady_clock::now();
    const ClimbSummary summary = climb(ClimbTask<T>{.tree = &fitted.tree,
                                                    .rule = fitted.rule,
                                                    .stop = params_.stop,
                                                    .starts = starts.data(),
                                                    .order = fitted.tree.order.data(),
                                                    .ends = ends.data(),
                                                    .count = count},
                                       device_points);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    result.climb_us = summary.device_us > 0 ? summary.device_us : took.count();
    result.iterations = summary.iterations, result.converged = summary.converged;
    const double root = std::sqrt(summary.squared) * frame_.unit;
    result.residual = params_.stop == MeanShiftStop::PerPoint ? root / params_.sigma : root;
    const double merge = params_.merge * params_.sigma / frame_.unit;
    fitted.merge_limit = static_cast<T>(merge * merge);
    fitted.ends = make_mean_shift_tree(ends.data(), count, dims_);
    result.labels = connected_labels(fitted.ends, ends.data(), fitted.merge_limit, simd_);
    result.points.resize(ends.size());
    const auto dims = static_cast<std::size_t>(dims_);
    for (std::size_t i = 0; i < ends.size(); ++i)
      result.points[i] = frame_.from_tree(static_cast<double>(ends[i]), i % dims);
    summarise(result);
  }

  /// Sizes and modes; clusters that are too small are dissolved and the others keep their order.
  void summarise(MeanShiftResult& result) const {
    const auto dims = static_cast<std::size_t>(dims_);
    std::vector<std::int64_t> sizes;
    for (const int label : result.labels) {
      if (static_cast<std::size_t>(label) >= sizes.size()) sizes.resize(static_cast<std::size_t>(label) + 1);
      ++sizes[static_cast<std::size_t>(label)];
    }
    std::vector<int> renamed(sizes.size(), -1);
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      if (sizes[k] < params_.min_size) continue;
      renamed[k] = static_cast<int>(result.counts.size());
      result.counts.push_back(sizes[k]);
    }
    result.modes.assign(result.counts.size() * dims, 0.0);
    for (std::size_t i = 0; i < result.labels.size(); ++i) {
      const int label = result.labels[i] = renamed[static_cast<std::size_t>(result.labels[i])];
      if (label < 0) continue;
      const auto k = static_cast<std::size_t>(label);
      for (std::size_t c = 0; c < dims; ++c)
        result.modes[k * dims + c] +=
            (result.points[i * dims + c] - frame_.centre[c]) / static_cast<double>(result.counts[k]);
    }
    for (std::size_t i = 0; i < result.modes.size(); ++i) result.modes[i] += frame_.centre[i % dims];
  }

  template <class T>
  std::vector<int> predict_as(const Fitted<T>& fitted, std::span<const double> points) const {
    const std::vector<T> starts = to_tree<T>(points);
    std::vector<T> ends(starts.size());
    const int count = static_cast<int>(starts.size() / static_cast<std::size_t>(dims_));
    ClimbTask<T> task{.tree = &fitted.tree,
                      .rule = fitted.rule,
                      .starts = starts.data(),
                      .ends = ends.data(),
                      .count = count};
    climb_on_cpu(task, threads_, simd_);
    std::vector<int> labels =
        nearest_ends(fitted.ends, ends.data(), count, fitted.merge_limit, threads_, simd_);
    for (int& label : labels) label = label < 0 ? -1 : labels_[static_cast<std::size_t>(label)];
    return labels;
  }

  MeanShiftParams params_;
  MeanShiftOptions options_;
  Backend backend_;
  int threads_;
  Simd simd_;
  int dims_ = 0;
  bool wide_ = false;
  MeanShiftFrame frame_;
  Fitted<float> float_;
  Fitted<double> double_;
  std::vector<int> labels_;
  std::unique_ptr<MeanShiftMemory> memory_;
};

#if !defined(CONTORNO_HAVE_CUDA)
struct MeanShiftMemory::Parts {};
MeanShiftMemory::MeanShiftMemory() = default;
MeanShiftMemory::~MeanShiftMemory() = default;
#endif

MeanShift::MeanShift(const MeanShiftParams& params, const MeanShiftOptions& options)
    : impl_(std::make_unique<Impl>(params, options)) {}
MeanShift::~MeanShift() = default;
MeanShift::MeanShift(MeanShift&&) noexcept = default;
MeanShift& MeanShift::operator=(MeanShift&&) noexcept = default;

MeanShiftResult MeanShift::fit(std::span<const double> points, int dims, double* device_points) {
  return impl_->fit(points, dims, device_points);
}
std::vector<int> MeanShift::predict(std::span<const double> points) const {
  return impl_->predict(points);
}

}  // namespace contorno
