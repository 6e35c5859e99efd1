// Random fields of heights.
#include "stages/diamond_square/field.h"

#include <pybind11/stl.h>

#include "plugins/python/device/stages.h"
#include "plugins/python/functions/bindings.h"
#include "plugins/python/host/host_image.h"
#include "plugins/python/shared/arguments.h"
#include "plugins/python/shared/process.h"

namespace contorno::python {
namespace {

DiamondSquareDomain domain_of(const std::string& word) {
  if (word == "finite") return DiamondSquareDomain::Finite;
  if (word == "cyclic") return DiamondSquareDomain::Cyclic;
  if (word == "endless") return DiamondSquareDomain::Endless;
  throw py::value_error("domain is '" + word + "', allowed 'finite', 'cyclic' or 'endless'");
}

DiamondSquareRange range_of(const std::string& word) {
  if (word == "paper") return DiamondSquareRange::Paper;
  if (word == "unbiased") return DiamondSquareRange::Unbiased;
  throw py::value_error("range is '" + word + "', allowed 'paper' or 'unbiased'");
}

ElementType type_of(char kind, py::ssize_t bytes) {
  if (kind == 'u' && bytes == 1) return ElementType::U8;
  if (kind == 'u' && bytes == 2) return ElementType::U16;
  if (kind == 'f' && bytes == 4) return ElementType::F32;
  throw py::value_error("dtype is not allowed; allowed are uint8, uint16 and float32");
}

py::object make_field(int n, std::uint64_t seed, std::pair<int, int> size, int channels, char kind,
                      py::ssize_t bytes, const std::string& domain, const std::string& range,
                      double roughness, double amplitude, const std::vector<double>& corners,
                      std::pair<std::int64_t, std::int64_t> origin, py::handle place, py::handle threads,
                      bool stay, py::handle stream) {
  const DiamondSquareParams params{.seed = seed,
                                   .exponent = n,
                                   .domain = domain_of(domain),
                                   .range = range_of(range),
                                   .roughness = roughness,
                                   .amplitude = amplitude,
                                   .corners = corners,
                                   .row = origin.second,
                                   .col = origin.first};
  if (size.first < 1 || size.second < 1 || size.first > kMaxSide || size.second > kMaxSide || channels < 1 ||
      channels > 16)
    throw py::value_error("the field's sides must be from 1 to 65536 px, and its channels from 1 to 16");
  const ImageFormat format{.width = size.first,
                           .height = size.second,
                           .channels = channels,
                           .type = type_of(kind, bytes),
                           .layout = Layout::Planar};
  if (backend_of(place) == Backend::Cuda) {
    threads_for(threads, 1);  // only to refuse what is no number of threads
    return diamond_square_on_device(params, format, {stay, stream});
  }
  NewImage image = new_image(format, channels == 1 ? 2 : 3);
  const int count = threads_for(threads, static_cast<std::uint64_t>(image.array.size()));
  {
    const py::gil_scoped_release released;
    const SignalWatch watch;
    diamond_square(params, image.view, count);
  }
  return std::move(image.array);
}

}  // namespace

void bind_diamond_square(py::module_& module) {
  module.def("diamond_square", &make_field);
}

}  // namespace contorno::python
