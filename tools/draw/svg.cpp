#include "tools/draw/svg.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace contorno {
namespace {

using fourier::Complex;

constexpr std::size_t kMostArms = 128;  // arms of a machine that are shown
constexpr double kShortestArm = 0.05;   // px

std::string hex(const Colour& colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

/// Writes one picture; times are in seconds, lengths in px of the picture.
class SvgScene {
 public:
  explicit SvgScene(const DrawingSize& size) : placement_(size.placement()) {
    text_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n"
        "<style>path{{stroke:{2};stroke-width:1.4}}circle{{stroke:{3}}}line{{stroke:{4};stroke-width:1.2}}"
        "</style>\n<rect width=\"{0}\" height=\"{1}\" fill=\"{5}\"/>\n<g fill=\"none\">\n",
        size.width, size.height, hex(kDrawingLine), hex(kDrawingCircle), hex(kDrawingArm),
        hex(kDrawingPaper));
  }

  void add(const Machine& machine, double begin, double seconds) {
    const double a_point = seconds / static_cast<double>(machine.line.size());
    for (std::size_t i = 0; i < machine.strokes.size(); ++i) {
      const std::span<const Complex> stroke = machine.stroke(i);
      add_stroke(stroke, begin + a_point * machine.strokes[i], a_point * static_cast<double>(stroke.size()));
    }
    add_arms(machine, begin, seconds, a_point * static_cast<double>(machine.period));
  }

  std::string finish() { return std::move(text_) + "</g>\n</svg>\n"; }

 private:
  // Pixels begin half a pixel before their centres.
  double x(const Complex& point) const { return placement_.frame_x(point.re) + 0.5; }
  double y(const Complex& point) const { return placement_.frame_y(point.im) + 0.5; }

  void add_stroke(std::span<const Complex> line, double begin, double seconds) {
    text_ += "<path pathLength=\"1\" stroke-dasharray=\"1 2\" stroke-dashoffset=\"1\" d=\"";
    for (std::size_t i = 0; i < line.size(); ++i)
      text_ += fmt::format("{}{:.2f} {:.2f}", i == 0 ? "M" : i == 1 ? "L" : " ", x(line[i]), y(line[i]));
    text_ += fmt::format(
        "\"><animate attributeName=\"stroke-dashoffset\" from=\"1\" to=\"0\" begin=\"{:.4f}s\" "
        "dur=\"{:.4f}s\" fill=\"freeze\"/></path>\n",
        begin, std::max(seconds, 1e-4));
  }

  /// Adds each arm as a group within that of the arm before, so that it turns only by the difference.
  void add_arms(const Machine& machine, double begin, double seconds, double period) {
    const double rest = placement_.scale_x;
    std::size_t open = 1;
    Complex centre;
    double angle = 0;
    std::int64_t turns = 0;
    std::string arms;
    for (const Arm& arm : machine.arms) {
      if (arm.turns == 0) {
        centre = arm.coefficient;
        continue;
      }
      const double radius = magnitude(arm.coefficient) * rest;
      if (radius < kShortestArm || open > kMostArms) break;
      const double points = std::atan2(arm.coefficient.im, arm.coefficient.re) * (180 / std::numbers::pi);
      const double first = points - angle;
      arms += fmt::format(
          "<circle r=\"{0:.2f}\"/><g><animateTransform attributeName=\"transform\" type=\"rotate\" "
          "from=\"{1:.3f}\" to=\"{2:.3f}\" begin=\"{3:.4f}s\" dur=\"{4:.4f}s\"/><line x2=\"{0:.2f}\"/>"
          "<g transform=\"translate({0:.2f} 0)\">\n",
          radius, first, first + 360.0 * static_cast<double>(arm.turns - turns), begin,
          std::max(period, 1e-4));
      ++open;
      angle = points, turns = arm.turns;
    }
    for (; open > 1; --open) arms += "</g></g>";
    text_ += fmt::format(
        "<g visibility=\"hidden\" transform=\"translate({:.2f} {:.2f})\"><set attributeName=\"visibility\" "
        "to=\"visible\" begin=\"{:.4f}s\" dur=\"{:.4f}s\"/>\n{}</g>\n",
        x(centre), y(centre), begin, std::max(seconds, 1e-4), arms);
  }

  Placement placement_;
  std::string text_;
};

}  // namespace

std::string animated_svg(std::span<const Machine> machines, const DrawingSize& size, double seconds) {
  SvgScene scene(size);
  const auto all = static_cast<double>(line_points(machines));
  double begin = 0;
  for (const Machine& machine : machines) {
    const double part = seconds * static_cast<double>(machine.line.size()) / all;
    scene.add(machine, begin, part);
    begin += part;
  }
  return scene.finish();
}

}  // namespace contorno
