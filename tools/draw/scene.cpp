#include "tools/draw/scene.h"

#include <algorithm>
#include <array>

#include "stages/overlay/stage.h"

namespace contorno {
namespace {

using fourier::Complex;

constexpr std::size_t kCirclePoints = 97, kMostCircles = 64;
constexpr double kSmallestCircle = 1;  // px: radius of those that are drawn

/// Points around the circle of radius 1, of which the last is the first again.
const std::array<Complex, kCirclePoints>& unit_circle() {
  static const auto circle = [] {
    std::array<Complex, kCirclePoints> points;
    for (std::size_t k = 0; k < kCirclePoints; ++k)
      points[k] = fourier::root_of_unity(k % (kCirclePoints - 1), kCirclePoints - 1);
    return points;
  }();
  return circle;
}

ParamSet line_params() {
  ParamSet params(overlay_stage().params);
  params.set("halo", 0.0);
  return params;
}

std::vector<ClassSpec> drawn_classes() {
  const auto one = [](const char* name, const Colour& colour, double width) {
    return ClassSpec{.name = name, .colour = colour, .line_width = width};
  };
  return {one("circle", kDrawingCircle, 1), one("line", kDrawingLine, 1.4), one("arm", kDrawingArm, 1.2)};
}

}  // namespace

ScenePainter::ScenePainter(std::span<const Machine> machines, const DrawingSize& size, Backend backend)
    : machines_(machines),
      all_(line_points(machines)),
      scale_(size.placement().scale_x),
      stage_(overlay_stage(), line_params(), backend, 1, drawn_classes()) {
  std::size_t strokes = 0, arms = 0;
  for (const Machine& machine : machines)
    strokes += machine.strokes.size(), arms = std::max(arms, machine.arms.size());
  const Format formats[] = {ImageFormat{.width = size.width, .height = size.height, .channels = 3},
                            ContoursFormat{.width = size.map_width,
                                           .height = size.map_height,
                                           .classes = 3,
                                           .point_capacity = all_ + arms + 1 + kMostCircles * kCirclePoints,
                                           .contour_capacity = strokes + 1 + kMostCircles,
                                           .placement = size.placement()}};
  stage_.plan(formats);
  const ImageView& paper = stage_.image_input(0);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      std::uint8_t* const pixel = paper.row<std::uint8_t>(y) + 3 * static_cast<std::ptrdiff_t>(x);
      pixel[0] = kDrawingPaper.red, pixel[1] = kDrawingPaper.green, pixel[2] = kDrawingPaper.blue;
    }
}

void ScenePainter::add(std::span<const Complex> points) {
  const auto& out = std::get<ContoursView>(stage_.input(1));
  for (const Complex& point : points)
    out.points[out.counts->points++] = {static_cast<float>(point.im), static_cast<float>(point.re)};
  out.closed[out.counts->contours++] = 0;
  out.offsets[out.counts->contours] = static_cast<std::uint32_t>(out.counts->points);
}

void ScenePainter::end_class(std::size_t k) {
  const auto& out = std::get<ContoursView>(stage_.input(1));
  out.class_begin[k + 1] = static_cast<std::uint32_t>(out.counts->contours);
}

/// Where the joints of the machine are that draws the last of `shown` points; none when all are shown.
std::vector<Complex> ScenePainter::joints_at(std::uint64_t shown) const {
  if (shown == 0 || shown >= all_) return {};
  std::uint64_t before = 0;
  for (const Machine& machine : machines_) {
    if (shown <= before + machine.line.size()) return machine.joints(shown - before - 1);
    before += machine.line.size();
  }
  return {};
}

void ScenePainter::add_circles(std::span<const Complex> joints) {
  for (std::size_t i = 0; i + 1 < joints.size() && i < kMostCircles; ++i) {
    const double radius = magnitude(joints[i + 1] - joints[i]);
    if (radius * scale_ < kSmallestCircle) break;  // all that follow are smaller
    std::array<Complex, kCirclePoints> circle;
    for (std::size_t k = 0; k < kCirclePoints; ++k) circle[k] = joints[i] + radius * unit_circle()[k];
    add(circle);
  }
}

void ScenePainter::paint(std::uint64_t shown) {
  const auto& out = std::get<ContoursView>(stage_.input(1));
  *out.counts = {};
  out.offsets[0] = out.class_begin[0] = 0;
  const std::vector<Complex> joints = joints_at(shown);
  add_circles(joints);
  end_class(0);
  std::uint64_t left = shown;
  for (const Machine& machine : machines_)
    for (std::size_t i = 0; i < machine.strokes.size() && left > 0; ++i) {
      std::span<const Complex> stroke = machine.stroke(i);
      stroke = stroke.first(std::min<std::uint64_t>(stroke.size(), left));
      add(stroke);
      left -= stroke.size();
    }
  end_class(1);
  if (!joints.empty()) add(joints);
  end_class(2);
  stage_.run();
}

}  // namespace contorno
