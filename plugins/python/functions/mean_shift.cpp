// Mean shift of points.
#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <optional>

#include "cuda/pointer.h"
#include "plugins/python/device/on_device.h"
#include "plugins/python/device/stages.h"
#include "plugins/python/functions/bindings.h"
#include "plugins/python/shared/arguments.h"
#include "plugins/python/shared/idle.h"
#include "plugins/python/shared/process.h"
#include "stages/mean_shift/points.h"

namespace contorno::python {
namespace {

/// An array over a vector that it owns.
template <class T>
py::array_t<T> owning(std::vector<T> values, std::vector<py::ssize_t> shape) {
  auto* kept = new std::vector<T>(std::move(values));
  const py::capsule owner(kept, [](void* one) { delete static_cast<std::vector<T>*>(one); });
  return py::array_t<T>(std::move(shape), kept->data(), owner);
}

template <class E>
E choice(const std::string& word, const std::map<std::string, E>& words, const char* name) {
  const auto found = words.find(word);
  if (found != words.end()) return found->second;
  std::string allowed;
  for (const auto& [one, value] : words) allowed += (allowed.empty() ? "'" : ", '") + one + "'";
  throw py::value_error(std::string(name) + " is '" + word + "', allowed " + allowed);
}

using Points = py::array_t<double, py::array::c_style | py::array::forcecast>;

/// points, labels, modes, counts, iterations, converged, backend. `place` has been decided: 'cpu' or 'cuda'.
/// Points on a device are read by the host, which makes the tree; the climb is on their stream, and where its
/// points come to rest is written there, if results are to stay.
py::tuple fit(py::handle object, double sigma, double cut, const std::string& kernel, double eps,
              int max_iterations, double merge, std::int64_t min_size, const std::string& stop,
              const std::string& precision, py::handle place, py::handle threads, bool stay,
              py::handle stream) {
  MeanShiftParams params{
      .sigma = sigma,
      .kernel = choice<MeanShiftKernel>(kernel,
                                        {{"gaussian", MeanShiftKernel::Gaussian},
                                         {"flat", MeanShiftKernel::Flat},
                                         {"epanechnikov", MeanShiftKernel::Epanechnikov}},
                                        "kernel"),
      .cut = cut,
      .stop = choice<MeanShiftStop>(
          stop, {{"point", MeanShiftStop::PerPoint}, {"frobenius", MeanShiftStop::Frobenius}}, "stop"),
      .eps = eps,
      .max_iterations = max_iterations,
      .merge = merge,
      .min_size = min_size};
  MeanShiftOptions options{.backend = backend_of(place),
                           .precision = choice<MeanShiftPrecision>(precision,
                                                                   {{"auto", MeanShiftPrecision::Auto},
                                                                    {"float32", MeanShiftPrecision::Float32},
                                                                    {"float64", MeanShiftPrecision::Float64}},
                                                                   "precision")};
  std::optional<DevicePlace> device;
  if (options.backend == Backend::Cuda) {
    device = place_of(object, "points", stream);
    options.stream = device->stream;
  }
  const auto points = Points::ensure(to_host(object, "points", stream));
  if (!points) throw py::error_already_set();
  if (points.ndim() != 2)
    throw py::value_error("points has " + std::to_string(points.ndim()) + " dimensions, wanted 2: (N, d)");
  // Every point sees many others: threads pay earlier than for samples of images.
  options.threads = threads_for(threads, static_cast<std::uint64_t>(points.shape(0)) * 64);
  const std::span<const double> values(points.data(), static_cast<std::size_t>(points.size()));
  const auto dims = static_cast<int>(points.shape(1));
  NewDeviceArray rested;
  if (stay) rested = new_device_array(py::dtype::of<double>(), {points.shape(0), dims}, *device);
  MeanShiftResult result;
  {
    const py::gil_scoped_release released;
    const SignalWatch watch;
    std::optional<DeviceScope> scope;
    const std::string key = device ? std::to_string(device->device) : "";
    std::unique_ptr<MeanShiftMemory> memory;
    if (device) {
      scope.emplace(device->device);
      memory = Idle<MeanShiftMemory>::instance().take(key);
      if (!memory) memory = std::make_unique<MeanShiftMemory>();
      options.memory = memory.get();
    }
    result = MeanShift(params, options).fit(values, dims, static_cast<double*>(rested.data));
    if (memory) Idle<MeanShiftMemory>::instance().give(key, std::move(memory));
  }
  const auto count = static_cast<py::ssize_t>(result.labels.size()),
             clusters = static_cast<py::ssize_t>(result.counts.size());
  const auto kept = [&](py::array array) -> py::object {
    return stay ? to_device(array, *device) : py::object(std::move(array));
  };
  return py::make_tuple(stay ? rested.array : owning(std::move(result.points), {count, dims}),
                        kept(owning(std::move(result.labels), {count})),
                        kept(owning(std::move(result.modes), {clusters, dims})),
                        kept(owning(std::move(result.counts), {clusters})), result.iterations,
                        result.converged, std::string(name_of(result.backend)));
}

double bandwidth(const Points& points, const std::string& rule, double quantile, std::size_t most_samples,
                 py::handle threads) {
  const auto chosen = choice<BandwidthRule>(rule,
                                            {{"mean_neighbour", BandwidthRule::MeanNeighbour},
                                             {"median_neighbour", BandwidthRule::MedianNeighbour},
                                             {"silverman", BandwidthRule::Silverman}},
                                            "rule");
  const int count = threads_for(threads, static_cast<std::uint64_t>(points.shape(0)) * 64);
  const std::span<const double> values(points.data(), static_cast<std::size_t>(points.size()));
  const auto dims = static_cast<int>(points.shape(1));
  const py::gil_scoped_release released;
  const SignalWatch watch;
  return estimate_bandwidth(values, dims, chosen, quantile, most_samples, count);
}

}  // namespace

void bind_mean_shift(py::module_& module) {
  module.def("mean_shift", &fit);
  module.def("estimate_bandwidth", &bandwidth);
}

}  // namespace contorno::python
