// Fourier coefficients of contours, and the curves that they make.
#include <pybind11/complex.h>

#include <algorithm>
#include <complex>
#include <vector>

#include "geometry/fourier_series.h"
#include "plugins/python/functions/bindings.h"
#include "plugins/python/shared/process.h"

namespace contorno::python {
namespace {

using fourier::Complex;
template <class T>
using Dense = py::array_t<T, py::array::c_style | py::array::forcecast>;

/// (n, 2) rows of (row, column) from and to z = column + i row.
std::vector<Complex> complex_of(const Dense<double>& points) {
  std::vector<Complex> numbers(static_cast<std::size_t>(points.shape(0)));
  const double* at = points.data();
  for (Complex& one : numbers) one = {at[1], at[0]}, at += 2;
  return numbers;
}
py::array_t<double> points_of(const std::vector<Complex>& numbers) {
  py::array_t<double> points({static_cast<py::ssize_t>(numbers.size()), py::ssize_t{2}});
  double* at = points.mutable_data();
  for (const Complex& one : numbers) at[0] = one.im, at[1] = one.re, at += 2;
  return points;
}

/// The coefficients of finite (n, 2) points.
py::array_t<std::complex<double>> fourier_coefficients(const Dense<double>& points) {
  const std::vector<Complex> numbers = complex_of(points);
  std::vector<Complex> coefficients;
  {
    const py::gil_scoped_release released;
    coefficients = fourier::coefficients_of(numbers);
  }
  py::array_t<std::complex<double>> made(static_cast<py::ssize_t>(coefficients.size()));
  std::complex<double>* at = made.mutable_data();
  for (const Complex& one : coefficients) *at++ = {one.re, one.im};
  return made;
}

/// The curve of finite coefficients at finite times; the `terms` that are kept are the largest ones if `top`.
py::array_t<double> fourier_curve(const Dense<std::complex<double>>& coefficients, const Dense<double>& times,
                                  std::uint64_t terms, bool top, py::handle threads) {
  std::vector<Complex> numbers;
  for (py::ssize_t k = 0; k < coefficients.size(); ++k)
    numbers.push_back({coefficients.data()[k].real(), coefficients.data()[k].imag()});
  const std::span<const double> at(times.data(), static_cast<std::size_t>(times.size()));
  const int count = threads_for(threads, at.size() * std::min<std::uint64_t>(terms, numbers.size()) * 8);
  std::vector<Complex> curve;
  {
    const py::gil_scoped_release released;
    const SignalWatch watch;
    curve = fourier::curve_of(numbers, terms, top ? KeptTerms::Top : KeptTerms::Low, at, count);
  }
  return points_of(curve);
}

}  // namespace

void bind_fourier(py::module_& module) {
  module.def("fourier_coefficients", &fourier_coefficients);
  module.def("fourier_curve", &fourier_curve);
}

}  // namespace contorno::python
