// L. V. Greco's tables and graphs: kernels in three versions, host against device over the number of points,
// and the brush.
#include "tools/bench/sources/greco.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "pipeline/graph/applied.h"
#include "stages/catalog.h"
#include "tools/bench/contour_stage.h"
#include "tools/bench/sources/records.h"

namespace contorno::sources {
namespace {

void append(PlainContours& to, const PlainContours& from, std::size_t contour) {
  for (int i = from.begins[contour]; i < from.begins[contour + 1]; ++i) {
    to.x.push_back(from.x[static_cast<std::size_t>(i)]);
    to.y.push_back(from.y[static_cast<std::size_t>(i)]);
  }
}

int square_between(const PlainContours& contours, std::size_t a, std::size_t b) {
  const int x = contours.x[a] - contours.x[b], y = contours.y[a] - contours.y[b];
  return x * x + y * y;
}

}  // namespace

PlainContours kept(const PlainContours& contours, const std::vector<int>& flags) {
  PlainContours out;
  for (std::size_t c = 0; c < contours.contours(); ++c) {
    for (auto i = static_cast<std::size_t>(contours.begins[c]);
         i < static_cast<std::size_t>(contours.begins[c + 1]); ++i)
      if (flags[i] != 0) out.x.push_back(contours.x[i]), out.y.push_back(contours.y[i]);
    if (static_cast<int>(out.points()) > out.begins.back())
      out.begins.push_back(static_cast<int>(out.points()));
  }
  return out;
}

MergedPlaces merged_places(const PlainContours& contours, const std::vector<char>& close) {
  const std::size_t count = contours.contours();
  std::vector<std::size_t> first(count);
  std::iota(first.begin(), first.end(), std::size_t{0});
  const std::function<std::size_t(std::size_t)> root = [&](std::size_t c) {
    return first[c] == c ? c : first[c] = root(first[c]);
  };
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = 0; b < count; ++b)
      if (close[a * count + b] != 0) {
        const std::size_t one = root(a), other = root(b);
        first[std::max(one, other)] = std::min(one, other);
      }
  std::vector<std::vector<std::size_t>> members(count);
  for (std::size_t c = 0; c < count; ++c) members[root(c)].push_back(c);
  MergedPlaces out{.places = std::vector<int>(count)};
  int end = 0;
  for (const std::vector<std::size_t>& group : members) {
    if (group.empty()) continue;
    for (const std::size_t c : group) {
      out.places[c] = end;
      end += contours.begins[c + 1] - contours.begins[c];
    }
    out.begins.push_back(end);
  }
  return out;
}

PlainContours merged(const PlainContours& contours, const std::vector<char>& close) {
  const MergedPlaces places = merged_places(contours, close);
  PlainContours out{.x = std::vector<int>(contours.points()),
                    .y = std::vector<int>(contours.points()),
                    .begins = places.begins};
  for (std::size_t c = 0; c < contours.contours(); ++c) {
    const auto begin = static_cast<std::size_t>(contours.begins[c]),
               end = static_cast<std::size_t>(contours.begins[c + 1]),
               to = static_cast<std::size_t>(places.places[c]);
    for (std::size_t i = begin; i < end; ++i)
      out.x[to + i - begin] = contours.x[i], out.y[to + i - begin] = contours.y[i];
  }
  return out;
}

PlainContours ordered(const PlainContours& contours, const std::vector<int>& squares) {
  const std::size_t count = contours.contours();
  std::vector<bool> left(count, true);
  PlainContours out;
  std::size_t current = 0;
  for (std::size_t step = 0; step < count; ++step) {
    append(out, contours, current);
    out.begins.push_back(static_cast<int>(out.points()));
    left[current] = false;
    std::size_t next = count;
    int least = INT_MAX;
    for (std::size_t c = 0; c < count; ++c) {
      const int square = squares[std::min(c, current) * count + std::max(c, current)];
      if (left[c] && (next == count || square < least)) next = c, least = square;
    }
    current = next;
  }
  return out;
}

std::vector<int> flags_of_brush(const PlainContours& contours, const Brush& brush) {
  std::vector<int> flags(contours.points(), 1);
  for (std::size_t i = 0; i < contours.points(); ++i)
    for (std::size_t b = 0; b < brush.x.size() && flags[i] != 0; ++b)
      if (contours.x[i] == brush.x[b] && contours.y[i] == brush.y[b]) flags[i] = 0;
  return flags;
}

std::vector<int> flags_of_small(const PlainContours& contours, int least) {
  std::vector<int> flags(contours.points(), 1);
  for (std::size_t c = 0; c < contours.contours(); ++c)
    if (contours.begins[c + 1] - contours.begins[c] < least)
      std::fill(flags.begin() + contours.begins[c], flags.begin() + contours.begins[c + 1], 0);
  return flags;
}

std::vector<int> flags_of_duplicates(const PlainContours& contours, int distance) {
  std::vector<int> flags(contours.points(), 1);
  for (std::size_t j = 0; j < contours.points(); ++j)
    for (std::size_t i = 0; i < j && flags[j] != 0; ++i)
      if (square_between(contours, i, j) < distance * distance) flags[j] = 0;
  return flags;
}

namespace {

/// Calls pair(a, b, i, j) for all points i of a contour a and j of a later one b.
template <class Pair>
void for_pairs(const PlainContours& contours, const Pair& pair) {
  const std::size_t count = contours.contours();
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = a + 1; b < count; ++b)
      for (auto i = static_cast<std::size_t>(contours.begins[a]);
           i < static_cast<std::size_t>(contours.begins[a + 1]); ++i)
        for (auto j = static_cast<std::size_t>(contours.begins[b]);
             j < static_cast<std::size_t>(contours.begins[b + 1]); ++j)
          pair(a * count + b, i, j);
}

}  // namespace

std::vector<char> close_contours(const PlainContours& contours, int distance) {
  std::vector<char> close(contours.contours() * contours.contours(), 0);
  for_pairs(contours, [&](std::size_t at, std::size_t i, std::size_t j) {
    if (square_between(contours, i, j) < distance * distance) close[at] = 1;
  });
  return close;
}

std::vector<int> contour_distances(const PlainContours& contours) {
  std::vector<int> least(contours.contours() * contours.contours(), INT_MAX);
  for_pairs(contours, [&](std::size_t at, std::size_t i, std::size_t j) {
    least[at] = std::min(least[at], square_between(contours, i, j));
  });
  return least;
}

namespace {

constexpr int kMergeDistance = 5, kDuplicateDistance = 2, kLeastPoints = 10;

/// Circles of 100 points on whole px: his pictures are not part of the document.
PlainContours circles(std::uint32_t points) {
  const MadeContours made = made_circles(points / 100);
  PlainContours contours;
  for (const Point& point : made.stored) {
    contours.x.push_back(static_cast<int>(std::lround(point.col)));
    contours.y.push_back(static_cast<int>(std::lround(point.row)));
    if (contours.points() % 100 == 0) contours.begins.push_back(static_cast<int>(contours.points()));
  }
  return contours;
}

/// The points of `circles` in five arcs a circle, of which two are too short to stay.
PlainContours arcs(const PlainContours& circles) {
  PlainContours contours{.x = circles.x, .y = circles.y};
  for (const int begin : circles.begins)
    for (const int end : {3, 12, 22, 60, 100})
      if (begin + end <= static_cast<int>(circles.points())) contours.begins.push_back(begin + end);
  return contours;
}

/// So many px under a round brush that was set down on the diagonal of the map.
Brush brush_of(std::uint32_t points, std::size_t count) {
  Brush brush;
  const double side = side_for(points);
  const int places = 20,
            radius = static_cast<int>(std::sqrt(static_cast<double>(count) / places / 3.141592653589793)) + 1;
  for (int place = 0; place < places; ++place) {
    const int centre = static_cast<int>(side * (place + 0.5) / places);
    const std::size_t most = count * static_cast<std::size_t>(place + 1) / places;
    for (int y = -radius; y <= radius; ++y)
      for (int x = -radius; x <= radius && brush.x.size() < most; ++x)
        if (x * x + y * y <= radius * radius) brush.x.push_back(centre + x), brush.y.push_back(centre + y);
  }
  return brush;
}

/// A step of contorno, from and to host memory.
class ByStep {
 public:
  ByStep(const PlainContours& contours, const std::string& step,
         const std::vector<std::pair<std::string, ParamValue>>& settings, Backend backend, int threads)
      : contours_(contours),
        stage_(stage_called(stage_catalog(), "stage", step), params(step, settings), backend, threads) {
    const Format format = ContoursFormat{.width = 1,
                                         .height = 1,
                                         .classes = 1,
                                         .point_capacity = contours.points(),
                                         .contour_capacity = contours.contours()};
    for (int attempt = 0;; ++attempt) try {
        stage_.plan(std::span(&format, 1));
        seconds();
        return;
      } catch (const Error&) {
        if (attempt == 3) throw;
      }
  }
  double seconds() {
    const auto start = std::chrono::steady_clock::now();
    const auto& view = std::get<ContoursView>(stage_.input(0));
    *view.counts = {.points = contours_.points(), .contours = contours_.contours()};
    for (std::size_t i = 0; i < contours_.points(); ++i)
      view.points[i] = {.row = static_cast<float>(contours_.y[i]), .col = static_cast<float>(contours_.x[i])};
    for (std::size_t c = 0; c <= contours_.contours(); ++c)
      view.offsets[c] = static_cast<std::uint32_t>(contours_.begins[c]);
    std::fill_n(view.closed, contours_.contours(), std::uint8_t{0});
    view.class_begin[0] = 0, view.class_begin[1] = static_cast<std::uint32_t>(contours_.contours());
    stage_.run();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  PlainContours result() const {
    const auto& view = std::get<ContoursView>(stage_.output(0));
    PlainContours out;
    for (std::size_t c = 0; c < view.counts->contours; ++c) {
      for (std::uint32_t i = view.offsets[c]; i < view.offsets[c + 1]; ++i)
        out.x.push_back(static_cast<int>(view.points[i].col)),
            out.y.push_back(static_cast<int>(view.points[i].row));
      out.begins.push_back(static_cast<int>(out.points()));
    }
    return out;
  }

 private:
  static ParamSet params(const std::string& step,
                         const std::vector<std::pair<std::string, ParamValue>>& settings) {
    ParamSet params(stage_called(stage_catalog(), "stage", step).params);
    for (const auto& [name, value] : settings) params.set(name, value);
    return params;
  }
  const PlainContours& contours_;
  AppliedStage stage_;
};

/// One of his steps: its contours, what contorno calls it, and his programs.
struct StepOfHis {
  const PlainContours* contours;
  std::string name, step;
  std::vector<std::pair<std::string, ParamValue>> settings;
  std::function<PlainContours()> serial;
#if CONTORNO_HAVE_CUDA
  std::function<PlainContours(GrecoVersion, GrecoTimes*)> device;
#endif
};

/// What the steps are given.
struct Given {
  PlainContours circles, arcs;
  Brush brush;
};

std::vector<StepOfHis> steps_of(const Given& given) {
  const PlainContours &contours = given.circles, &small = given.arcs;
  const Brush& brush = given.brush;
  std::vector<double> brushed;
  for (std::size_t i = 0; i < brush.x.size(); ++i)
    brushed.insert(brushed.end(), {static_cast<double>(brush.x[i]), static_cast<double>(brush.y[i])});
  std::vector<StepOfHis> steps(5);
  steps[0] = {.contours = &contours,
              .name = "filter_contour_by_hand",
              .step = "exclude",
              .settings = {{"points", brushed}},
              .serial = [&] { return kept(contours, flags_of_brush(contours, brush)); }};
  steps[1] = {.contours = &contours,
              .name = "merge_contours",
              .step = "merge_close",
              .settings = {{"distance", static_cast<double>(kMergeDistance)}},
              .serial = [&] { return merged(contours, close_contours(contours, kMergeDistance)); }};
  steps[2] = {.contours = &contours,
              .name = "filter_contour_duplicate",
              .step = "drop_duplicates",
              .settings = {{"distance", static_cast<double>(kDuplicateDistance)},
                           {"rule", std::string("any_earlier")}},
              .serial = [&] { return kept(contours, flags_of_duplicates(contours, kDuplicateDistance)); }};
  steps[3] = {.contours = &contours,
              .name = "order_clusters_by_distance",
              .step = "order_nearest",
              .settings = {},
              .serial = [&] { return ordered(contours, contour_distances(contours)); }};
  steps[4] = {.contours = &small,
              .name = "filter_vector_by_min",
              .step = "drop_small",
              .settings = {{"min_points", std::int64_t{kLeastPoints}}},
              .serial = [&] { return kept(small, flags_of_small(small, kLeastPoints)); }};
#if CONTORNO_HAVE_CUDA
  steps[0].device = [&](GrecoVersion version, GrecoTimes* times) {
    return brushed_on_device(contours, brush, version, times);
  };
  steps[1].device = [&](GrecoVersion version, GrecoTimes* times) {
    return merged_on_device(contours, kMergeDistance, version, times);
  };
  steps[2].device = [&](GrecoVersion version, GrecoTimes* times) {
    return unique_on_device(contours, kDuplicateDistance, version, times);
  };
  steps[3].device = [&](GrecoVersion version, GrecoTimes* times) {
    return ordered_on_device(contours, version, times);
  };
  steps[4].device = [&](GrecoVersion version, GrecoTimes* times) {
    return large_on_device(small, kLeastPoints, version, times);
  };
#endif
  return steps;
}

#if CONTORNO_HAVE_CUDA
constexpr std::pair<GrecoVersion, const char*> kVersions[] = {
    {GrecoVersion::Int4, "int4"}, {GrecoVersion::Int2, "int2"}, {GrecoVersion::Patch, "patch"}};

void measure_kernels(Records& records, const std::string& size, const StepOfHis& step,
                     const PlainContours& expected, const Options& options, bool whole_only) {
  for (const auto& [version, called] : kVersions) {
    // Steps without pairs of points are as int2.
    if (version == GrecoVersion::Patch && (step.step == "exclude" || step.step == "drop_small")) continue;
    const std::string name = fmt::format("{}, CUDA, {}", step.name, called);
    std::vector<double> whole;
    std::map<std::string, std::vector<double>> kernels;
    PlainContours found;
    for (int run = 0; run <= options.runs; ++run) {
      GrecoTimes times;
      const auto start = std::chrono::steady_clock::now();
      found = step.device(version, &times);
      if (run == 0) continue;
      whole.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      for (const auto& [kernel, seconds] : {std::pair{"flags", times.flags},
                                            {"scan", times.scan},
                                            {"move", times.move},
                                            {"affiliation", times.affiliation},
                                            {"afference", times.afference},
                                            {"realign", times.realign}})
        if (seconds > 0) kernels[kernel].push_back(seconds);
    }
    records.check(size, name, found == expected,
                  fmt::format("contorno's {} points in {} contours", expected.points(), expected.contours()));
    records.time(size, name, whole);
    if (whole_only) continue;
    for (const auto& [kernel, seconds] : kernels)
      records.time(size, fmt::format("{}: {}", name, kernel), seconds);
  }
}
#endif

/// All steps on so many points. `serial`: his program for the host, too.
void measure_points_of_greco(Records& records, std::uint32_t points, std::size_t brushed, bool serial,
                             const Options& options, [[maybe_unused]] bool device) {
  const Given given{
      .circles = circles(points), .arcs = arcs(circles(points)), .brush = brush_of(points, brushed)};
  const auto& [all_circles, cut, brush] = given;
  const std::string size = fmt::format("{} points, brush of {}", all_circles.points(), brush.x.size());
  records.fact("size", {{"case", size},
                        {"points", all_circles.points()},
                        {"contours", all_circles.contours()},
                        {"brush", brush.x.size()}});
  // contorno takes microseconds of most: often enough that what else runs shows less.
  const int often = options.small ? options.runs : 10 * options.runs;
  for (const StepOfHis& step : steps_of(given)) {
    const PlainContours& contours = *step.contours;
    ByStep one(contours, step.step, step.settings, Backend::Cpu, 1);
    const PlainContours expected = one.result();
    records.time(size, step.name + ", contorno, 1 thread", measured(often, [&] { return one.seconds(); }));
    if (serial) {
      PlainContours found;
      records.time(size, step.name + ", serial", seconds_of(1, [&] { found = step.serial(); }));
      records.check(
          size, step.name + ", serial", found == expected,
          fmt::format("contorno's {} points in {} contours", expected.points(), expected.contours()));
    }
#if CONTORNO_HAVE_CUDA
    if (!device) continue;
    measure_kernels(records, size, step, expected, options, false);
    ByStep cuda(contours, step.step, step.settings, Backend::Cuda, 0);
    records.check(size, step.name + ", contorno, CUDA", cuda.result() == expected, "the points of the CPU");
    records.time(size, step.name + ", contorno, CUDA", measured(often, [&] { return cuda.seconds(); }));
    if (&contours == &cut) continue;  // the kernels alone are measured on contours of equal sizes
    MadeContours made{
        .contours = static_cast<std::uint32_t>(contours.contours()), .points = 100, .stored = {}};
    for (std::size_t i = 0; i < contours.points(); ++i)
      made.stored.push_back(
          {.row = static_cast<float>(contours.y[i]), .col = static_cast<float>(contours.x[i])});
    StageBench alone({&stage_called(stage_catalog(), "stage", step.step), step.settings}, made, Backend::Cuda,
                     0);
    records.time(size, step.name + ", contorno, CUDA: device",
                 measured(often, [&] { return alone.seconds(1).first; }));
#endif
  }
}

}  // namespace

void greco(Records& records, const Options& options) {
  const bool device = has_device(records);
  if (options.small) return measure_points_of_greco(records, 1000, 400, true, options, device);
  for (const std::uint32_t points : {500U, 1000U, 2000U, 5000U, 10000U, 20000U})
    measure_points_of_greco(records, points, 5000, true, options, device);
  measure_points_of_greco(records, 83600, 100000, false, options, device);
  measure_points_of_greco(records, 200000, 5000, false, options, device);
}

}  // namespace contorno::sources
