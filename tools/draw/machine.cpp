#include "tools/draw/machine.h"

#include <algorithm>

#include "pipeline/shared/loops.h"

namespace contorno {
namespace {

using fourier::Complex;
using fourier::Index;

/// Sets those that are left out to 0 and returns the indices of the others, from low to high frequencies.
std::vector<Index> keep_terms(std::vector<Complex>& coefficients, const SeriesOptions& options) {
  const Index count = coefficients.size();
  const bool top = options.keep == KeptTerms::Top;
  const auto importance = [&](Index i) { return top ? fourier::importance_of(coefficients[i]) : 0; };
  const Index terms = options.terms == 0 ? count : std::min<Index>(options.terms, count);
  fourier::Selection selection{0, terms};
  if (top) selection = fourier::select_top(OneThread{}, count, terms, importance);
  std::vector<Index> kept;
  for (Index rank = 0; rank < count; ++rank)
    if (const Index index = fourier::index_of(rank, count);
        terms == count || selection.keeps(importance(index), rank))
      kept.push_back(index);
  std::vector<Complex> others(count);
  for (const Index index : kept) others[index] = coefficients[index];
  coefficients = std::move(others);
  return kept;
}

/// The way back from coefficients to points, by the conjugate of the transform of conjugates.
std::vector<Complex> points_of(std::vector<Complex> coefficients) {
  for (Complex& one : coefficients) one = conjugate(one);
  std::vector<Complex> points = fourier::coefficients_of(coefficients);
  const auto count = static_cast<double>(points.size());
  for (Complex& one : points) one = count * conjugate(one);
  return points;
}

/// The machine of the points of a period, of which the first `drawn` ones are drawn; one more than there are
/// is the first again.
Machine machine_of(const std::vector<Complex>& points, std::size_t drawn, std::vector<std::uint32_t> strokes,
                   const SeriesOptions& options) {
  Machine machine{.period = points.size(), .strokes = std::move(strokes)};
  std::vector<Complex> coefficients = fourier::coefficients_of(points);
  const Index count = coefficients.size();
  for (const Index index : keep_terms(coefficients, options))
    machine.arms.push_back({coefficients[index], 2 * index < count ? static_cast<std::int64_t>(index)
                                                                   : static_cast<std::int64_t>(index) -
                                                                         static_cast<std::int64_t>(count)});
  std::stable_sort(machine.arms.begin(), machine.arms.end(), [](const Arm& a, const Arm& b) {
    if ((a.turns == 0) != (b.turns == 0)) return a.turns == 0;
    return fourier::importance_of(a.coefficient) > fourier::importance_of(b.coefficient);
  });
  machine.line = points_of(std::move(coefficients));
  machine.line.resize(drawn, machine.line.front());
  return machine;
}

std::vector<Complex> complex_points(std::span<const Point> contour) {
  std::vector<Complex> points;
  for (const Point& point : contour) points.push_back({point.col, point.row});
  return points;
}

Machine machine_of_contour(std::span<const Point> contour, bool closed, const SeriesOptions& options) {
  std::vector<Complex> points = complex_points(contour);
  const std::size_t drawn = points.size();
  if (closed && drawn > 1)
    points.pop_back();
  else
    for (std::size_t i = drawn; i-- > 2;) points.push_back(points[i - 1]);
  return machine_of(points, drawn, {0}, options);
}

}  // namespace

std::span<const Complex> Machine::stroke(std::size_t i) const {
  const std::size_t end = i + 1 < strokes.size() ? strokes[i + 1] : line.size();
  return std::span(line).subspan(strokes[i], end - strokes[i]);
}

std::vector<Complex> Machine::joints(std::uint64_t step) const {
  std::vector<Complex> joints{{}};
  for (const Arm& arm : arms) {
    const auto turns = static_cast<std::uint64_t>(arm.turns < 0 ? -arm.turns : arm.turns);
    const Complex turned = fourier::root_of_unity(turns * (step % period) % period, period);
    joints.push_back(joints.back() + arm.coefficient * (arm.turns < 0 ? conjugate(turned) : turned));
  }
  if (!arms.empty() && arms.front().turns == 0) joints.erase(joints.begin());
  return joints;
}

std::vector<Machine> machines_of(const ContoursView& contours, const SeriesOptions& options) {
  const auto count = static_cast<std::uint32_t>(contours.counts->contours);
  if (options.all) {
    std::vector<Complex> points;
    std::vector<std::uint32_t> strokes;
    for (std::uint32_t i = 0; i < count; ++i) {
      strokes.push_back(static_cast<std::uint32_t>(points.size()));
      const std::vector<Complex> more = complex_points(contours.contour(i));
      points.insert(points.end(), more.begin(), more.end());
    }
    const std::size_t drawn = points.size();
    return {machine_of(points, drawn, std::move(strokes), options)};
  }
  std::vector<Machine> machines(count);
  for_tasks(options.threads, static_cast<int>(count), [&](int task) {
    const auto i = static_cast<std::uint32_t>(task);
    machines[i] = machine_of_contour(contours.contour(i), contours.closed[i] != 0, options);
  });
  return machines;
}

std::uint64_t line_points(std::span<const Machine> machines) {
  std::uint64_t points = 0;
  for (const Machine& machine : machines) points += machine.line.size();
  return points;
}

}  // namespace contorno
