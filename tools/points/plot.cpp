#include "tools/points/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <vector>

namespace contorno {
namespace {

constexpr double kField = 480, kMargin = 52, kTop = 44;  // px

/// The colours that people who do not see red or green can tell apart (Okabe and Ito, 2008), darkest last.
constexpr std::array<std::string_view, 7> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                      "#e69f00", "#56b4e9", "#7a3e9d"};
std::string_view colour_of(std::int32_t label) {
  return label < 0 ? "#9a9a9a" : kColours[static_cast<std::size_t>(label) % kColours.size()];
}

/// What is drawn along one axis.
struct Axis {
  double low = 0, high = 1;

  void add(double value) { low = std::min(low, value), high = std::max(high, value); }
  void widen() {
    // Beside numbers whose neighbours are farther away than a half, more is needed to make a difference.
    const double room = high > low ? 0.04 * (high - low) : std::max(0.5, 0.04 * std::abs(high));
    low -= room, high += room;
  }
  /// Px from the begin of the axis.
  double at(double value) const { return kField * ((value - low) / (high - low)); }
  /// 1, 2 or 5 times a power of ten, so that there are some five of them.
  double step() const {
    const double wanted = (high - low) / 5, power = std::pow(10, std::floor(std::log10(wanted)));
    for (const double times : {1, 2, 5})
      if (times * power >= wanted) return times * power;
    return 10 * power;
  }
  std::vector<double> ticks() const {
    const double apart = step();
    std::vector<double> all;
    const auto last = static_cast<std::int64_t>(std::floor(high / apart));
    for (auto k = static_cast<std::int64_t>(std::ceil(low / apart)); k <= last; ++k)
      all.push_back(static_cast<double>(k) * apart);
    return all;
  }
};

/// Some points, drawn by two of their coordinates.
struct Drawn {
  const double* values = nullptr;
  std::size_t count = 0;
  int dims = 1;

  double x(std::size_t i) const { return values[i * static_cast<std::size_t>(dims)]; }
  double y(std::size_t i) const {
    return dims > 1 ? values[i * static_cast<std::size_t>(dims) + 1] : static_cast<double>(i);
  }
};

class Plot {
 public:
  Plot(const Points& points, const MeanShiftResult& result)
      : result_(result),
        dims_(points.dims),
        before_{points.values.data(), result.labels.size(), points.dims},
        after_{result.points.data(), result.labels.size(), points.dims},
        step_((before_.count + kMostDrawn - 1) / kMostDrawn) {
    if (before_.count > 0) x_ = {before_.x(0), before_.x(0)}, y_ = {before_.y(0), before_.y(0)};
    for (const Drawn* one : {&before_, &after_})
      for (std::size_t i = 0; i < one->count; ++i) x_.add(one->x(i)), y_.add(one->y(i));
    x_.widen(), y_.widen();
  }

  std::string svg() {
    const double width = 2 * kField + 3 * kMargin, height = kField + kTop + kMargin;
    put("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" width=\"{:.0f}\" "
        "height=\"{:.0f}\" font-family=\"sans-serif\" font-size=\"13\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        width, height, width, height);
    put("<text x=\"{:.0f}\" y=\"24\">{} points, {} clusters{}</text>\n", kMargin, before_.count,
        result_.counts.size(), step_ > 1 ? fmt::format(", one of {} points is drawn", step_) : "");
    field(kMargin, "as they are", before_);
    field(kField + 2 * kMargin, "where they came to rest", after_);
    return text_ + "</svg>\n";
  }

 private:
  template <class... T>
  void put(fmt::format_string<const T&...> format, const T&... values) {
    fmt::format_to(std::back_inserter(text_), fmt::runtime(fmt::string_view(format)), values...);
  }
  void field(double left, std::string_view title, const Drawn& points) {
    put("<g transform=\"translate({:.0f} {:.0f})\">\n"
        "<rect width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#808080\"/>\n"
        "<text x=\"{}\" y=\"-6\" text-anchor=\"middle\">{}</text>\n",
        left, kTop, kField, kField, kField / 2, title);
    ticks();
    put("<g fill-opacity=\"0.7\">\n");
    for (std::size_t i = 0; i < points.count; i += step_)
      put("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"2.2\" fill=\"{}\"/>\n", x_.at(points.x(i)),
          kField - y_.at(points.y(i)), colour_of(result_.labels[i]));
    put("</g>\n");
    modes();
    put("</g>\n");
  }
  void ticks() {
    for (const double value : x_.ticks())
      put("<path d=\"M{0:.2f} {1}v5\" stroke=\"#808080\"/>"
          "<text x=\"{0:.2f}\" y=\"{2}\" text-anchor=\"middle\">{3:.6g}</text>\n",
          x_.at(value), kField, kField + 20, value);
    for (const double value : y_.ticks())
      put("<path d=\"M0 {0:.2f}h-5\" stroke=\"#808080\"/>"
          "<text x=\"-8\" y=\"{1:.2f}\" text-anchor=\"end\">{2:.6g}</text>\n",
          kField - y_.at(value), kField - y_.at(value) + 4, value);
    put("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", kField / 2, kField + 38,
        dims_ > 1 ? "coordinates 1 (across) and 2 (up)" : "coordinate 1 (across), number of the point (up)");
  }
  /// Points with one coordinate give a mode no place along the other axis.
  void modes() {
    const Drawn modes{result_.modes.data(), result_.counts.size(), dims_};
    if (dims_ < 2) return;
    put("<g stroke=\"black\" stroke-width=\"1.6\">\n");
    for (std::size_t i = 0; i < modes.count; ++i)
      put("<path d=\"M{0:.2f} {1:.2f}m-6 -6l12 12m0 -12l-12 12\"/>\n", x_.at(modes.x(i)),
          kField - y_.at(modes.y(i)));
    put("</g>\n");
  }

  const MeanShiftResult& result_;
  int dims_;
  Drawn before_, after_;
  std::size_t step_;
  Axis x_, y_;
  std::string text_;
};

}  // namespace

std::string points_svg(const Points& points, const MeanShiftResult& result) {
  return Plot(points, result).svg();
}

}  // namespace contorno
