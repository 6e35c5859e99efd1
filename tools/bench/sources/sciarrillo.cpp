// A. Sciarrillo's tables 5.1 and 6.1 to 6.4: his variants and contorno on two pictures of 511 x 95.
#include "tools/bench/sources/sciarrillo.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <set>
#include <tuple>

#include "base/memory.h"
#include "pipeline/graph/applied.h"
#include "plugins/synthetic/sources.h"
#include "stages/contours/find_contours.h"
#include "stages/contours/stage.h"
#include "tools/bench/sources/records.h"

namespace contorno::sources {

FourArrays serial_segments(const Field& field) {
  using Place = std::pair<double, double>;
  std::vector<std::pair<Place, Place>> segments;  // a list of tuples, as scikit-image's
  const auto at = [&](int row, int col) {
    return field.values[static_cast<std::size_t>(row * field.width + col)];
  };
  const auto fraction = [&](double from, double to) {
    return to == from ? 0 : (field.level - from) / (to - from);
  };
  for (int row = 0; row + 1 < field.height; ++row)
    for (int col = 0; col + 1 < field.width; ++col) {
      const double ul = at(row, col), ur = at(row, col + 1), ll = at(row + 1, col), lr = at(row + 1, col + 1);
      const int code = (ul > field.level ? 1 : 0) + (ur > field.level ? 2 : 0) + (ll > field.level ? 4 : 0) +
                       (lr > field.level ? 8 : 0);
      if (code == 0 || code == 15) continue;
      const Place top{row, col + fraction(ul, ur)}, bottom{row + 1, col + fraction(ll, lr)};
      const Place left{row + fraction(ul, ll), col}, right{row + fraction(ur, lr), col + 1};
      switch (code) {
        case 1:
          segments.emplace_back(top, left);
          break;
        case 2:
          segments.emplace_back(right, top);
          break;
        case 3:
          segments.emplace_back(right, left);
          break;
        case 4:
          segments.emplace_back(left, bottom);
          break;
        case 5:
          segments.emplace_back(top, bottom);
          break;
        case 6:
          segments.emplace_back(left, top), segments.emplace_back(right, bottom);
          break;
        case 7:
          segments.emplace_back(right, bottom);
          break;
        case 8:
          segments.emplace_back(bottom, right);
          break;
        case 9:
          segments.emplace_back(top, right), segments.emplace_back(bottom, left);
          break;
        case 10:
          segments.emplace_back(bottom, top);
          break;
        case 11:
          segments.emplace_back(bottom, left);
          break;
        case 12:
          segments.emplace_back(left, right);
          break;
        case 13:
          segments.emplace_back(top, right);
          break;
        default:
          segments.emplace_back(left, top);
          break;
      }
    }
  FourArrays arrays;
  for (const auto& [from, to] : segments) {
    arrays.x1.push_back(from.first), arrays.y1.push_back(from.second);
    arrays.x2.push_back(to.first), arrays.y2.push_back(to.second);
  }
  return arrays;
}

std::vector<std::vector<std::pair<double, double>>> assembled(const FourArrays& segments) {
  using Place = std::pair<double, double>;
  using Contour = std::deque<Place>;
  std::map<std::size_t, Contour> contours;
  std::map<Place, std::size_t> starts, ends;
  std::size_t next = 0;
  for (std::size_t i = 0; i < segments.x1.size(); ++i) {
    const Place from{segments.x1[i], segments.y1[i]}, to{segments.x2[i], segments.y2[i]};
    if (from == to) continue;
    const auto head = starts.find(to), tail = ends.find(from);
    if (head != starts.end() && tail != ends.end()) {
      const std::size_t behind = head->second, before = tail->second;
      starts.erase(head), ends.erase(tail);
      if (behind == before) {
        contours[behind].push_back(to);
        continue;
      }
      Contour &first = contours[before], &second = contours[behind];
      if (behind > before) {
        first.insert(first.end(), second.begin(), second.end());
        ends[first.back()] = before;
        contours.erase(behind);
      } else {
        second.insert(second.begin(), first.begin(), first.end());
        starts[second.front()] = behind;
        contours.erase(before);
      }
    } else if (head != starts.end()) {
      const std::size_t number = head->second;
      starts.erase(head);
      contours[number].push_front(from);
      starts[from] = number;
    } else if (tail != ends.end()) {
      const std::size_t number = tail->second;
      ends.erase(tail);
      contours[number].push_back(to);
      ends[to] = number;
    } else {
      contours[next] = {from, to};
      starts[from] = next, ends[to] = next;
      ++next;
    }
  }
  std::vector<std::vector<Place>> all;
  for (const auto& [number, contour] : contours) all.emplace_back(contour.begin(), contour.end());
  return all;
}

namespace {

/// scikit-image's picture for find_contours, in his size: values that float32 holds exactly.
Field artificial(int width, int height) {
  Field field{.width = width, .height = height, .values = {}};
  for (int row = 0; row < height; ++row)
    for (int col = 0; col < width; ++col) {
      const double x = 3.14159265 * (2.0 * row / (height - 1) - 1),
                   y = 3.14159265 * (2.0 * col / (width - 1) - 1);
      field.values.push_back(
          static_cast<float>(std::sin(std::exp(std::pow(std::sin(x), 3) + std::pow(std::cos(y), 2)))));
    }
  return field;
}

/// A frame of the synthetic line in grey: the photograph of the thesis is not to be had.
Field fruit(int width, int height) {
  const SourceType& type = synthetic_source();
  ParamSet params(type.params);
  params.set("frame_size", std::vector<double>{static_cast<double>(width), static_cast<double>(height)});
  params.set("frames", std::int64_t{1});
  const std::unique_ptr<Source> source = type.make(params);
  const ImageFormat frame = source->format().frame.value(), maps = source->format().maps.value();
  const Block frame_memory(packed_bytes(frame), MemoryKind::Host),
      maps_memory(packed_bytes(maps), MemoryKind::Host);
  FrameInput input{.frame = packed_view(frame_memory.data(), frame),
                   .maps = packed_view(maps_memory.data(), maps)};
  if (source->read(input) != ReadResult::Frame) throw std::runtime_error("the synthetic line gave no frame");
  Field field{.width = width, .height = height, .values = {}};
  for (int row = 0; row < height; ++row)
    for (int col = 0; col < width; ++col) {
      const auto* pixel = input.frame.row<std::uint8_t>(row) + col * frame.channels;
      const int grey =
          frame.channels < 3 ? 1000 * pixel[0] : 299 * pixel[0] + 587 * pixel[1] + 114 * pixel[2];
      field.values.push_back(static_cast<float>(grey) / 255000.F);
    }
  return field;
}

using Segments = std::set<std::tuple<double, double, double, double>>;

/// Contours may run either way round a segment; here they do not, but those that are a single sample have
/// none.
Segments segments_of(const FoundContours& found) {
  Segments all;
  for (std::size_t c = 0; c < found.count(); ++c) {
    const auto points = found.contour(c);
    for (std::size_t i = 0; i + 1 < points.size(); ++i)
      all.emplace(points[i].row, points[i].col, points[i + 1].row, points[i + 1].col);
  }
  return all;
}

Segments segments_of(const FourArrays& arrays) {
  Segments all;
  for (std::size_t i = 0; i < arrays.x1.size(); ++i)
    if (arrays.x1[i] != arrays.x2[i] || arrays.y1[i] != arrays.y2[i])
      all.emplace(arrays.x1[i], arrays.y1[i], arrays.x2[i], arrays.y2[i]);
  return all;
}

ImageView view_of(const Field& field) {
  return {.data = const_cast<double*>(field.values.data()),
          .format = {.width = field.width, .height = field.height, .channels = 1, .type = ElementType::F64},
          .row_pitch = field.width * static_cast<std::ptrdiff_t>(sizeof(double))};
}

/// contorno from host memory to contours in host memory, as a stage of a graph, on either backend.
class ByStage {
 public:
  ByStage(const Field& field, Backend backend)
      : stage_(contours_stage(), params(), backend, 0, {ClassSpec{.name = "class", .level = field.level}}),
        field_(field) {
    plan();
  }
  double seconds() {
    const auto start = std::chrono::steady_clock::now();
    const ImageView& in = stage_.image_input(0);
    for (int row = 0; row < field_.height; ++row)
      std::copy_n(samples_.begin() + static_cast<std::ptrdiff_t>(row) * field_.width, field_.width,
                  in.row<float>(row));
    stage_.run();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  const ContoursView& output() const { return std::get<ContoursView>(stage_.output(0)); }

 private:
  static ParamSet params() {
    ParamSet params(contours_stage().params);
    params.set("fully_connected", std::string("high"));
    return params;
  }
  void plan() {
    const Format format =
        ImageFormat{.width = field_.width, .height = field_.height, .channels = 1, .type = ElementType::F32};
    stage_.plan(std::span(&format, 1));
    samples_.assign(field_.values.begin(), field_.values.end());
    for (int attempt = 0;; ++attempt) try {
        seconds();
        return;
      } catch (const Error&) {
        if (attempt == 3) throw;
        stage_.plan(std::span(&format, 1));
      }
  }
  AppliedStage stage_;
  const Field& field_;
  std::vector<float> samples_;
};

/// Whether the contours of the stage are those of find_contours, rounded to float32.
bool same_contours(const ContoursView& stage, const FoundContours& found) {
  if (stage.counts->contours != found.count()) return false;
  for (std::size_t c = 0; c < found.count(); ++c) {
    const auto expected = found.contour(c);
    if (stage.offsets[c + 1] - stage.offsets[c] != expected.size()) return false;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const Point& point = stage.points[stage.offsets[c] + i];
      if (point.row != static_cast<float>(expected[i].row) ||
          point.col != static_cast<float>(expected[i].col))
        return false;
    }
  }
  return true;
}

void measure_picture(Records& records, const std::string& name, const Field& field, const Options& options,
                     [[maybe_unused]] bool device) {
  const int runs = options.small ? 2 : 20 * options.runs;
  const auto contours = [&](int threads) {
    return find_contours(view_of(field),
                         {.level = field.level, .fully_connected = Connectivity::High, .threads = threads});
  };
  const FoundContours found = contours(1);
  const Segments expected = segments_of(found);
  const FourArrays serial = serial_segments(field);
  records.check(name, "serial", segments_of(serial) == expected,
                fmt::format("{} segments, those of contorno's contours", serial.x1.size()));
  std::vector<std::vector<std::pair<double, double>>> joined = assembled(serial);
  bool equal = joined.size() == found.count();
  for (std::size_t c = 0; equal && c < joined.size(); ++c)
    equal = std::ranges::equal(joined[c], found.contour(c), [](const auto& a, const PointD& b) {
      return a.first == b.row && a.second == b.col;
    });
  records.check(name, "assembly", equal,
                fmt::format("{} contours, contorno's in their order", joined.size()));
  records.time(name, "serial, C++", seconds_of(runs, [&] { assembled(serial_segments(field)); }));
  records.time(name, "assembly, C++", seconds_of(runs, [&] { assembled(serial); }));
  records.time(name, "contorno, find_contours", seconds_of(runs, [&] { contours(1); }));
  ByStage on_host(field, Backend::Cpu);
  records.check(name, "contorno, stage", same_contours(on_host.output(), found),
                "find_contours, rounded to float32");
  records.time(name, "contorno, stage", measured(runs, [&] { return on_host.seconds(); }));
#if CONTORNO_HAVE_CUDA
  if (device) {
    KernelTimes times;
    records.check(name, "CUDA, six kernels", segments_on_device(field) == serial,
                  "the four arrays of the serial loop");
    records.time(name, "CUDA, six kernels",
                 measured(runs, [&] { return segments_on_device(field, &times), times.whole; }));
    records.time(name, "CUDA, six kernels, without memory and copies",
                 measured(runs, [&] { return segments_on_device(field, &times), times.kernels; }));
    ByStage on_device(field, Backend::Cuda);
    records.check(name, "contorno, CUDA", same_contours(on_device.output(), found),
                  "find_contours, rounded to float32");
    records.time(name, "contorno, CUDA", measured(runs, [&] { return on_device.seconds(); }));
  }
#endif
  nlohmann::json lines = nlohmann::json::array();
  for (std::size_t c = 0; c < found.count(); ++c) {
    nlohmann::json line = nlohmann::json::array();
    for (const PointD& point : found.contour(c)) line.push_back({point.row, point.col});
    lines.push_back(line);
  }
  records.fact("picture", {{"case", name},
                           {"width", field.width},
                           {"height", field.height},
                           {"values", field.values},
                           {"level", field.level},
                           {"contours", lines},
                           {"segments", serial.x1.size()}});
}

}  // namespace

void sciarrillo(Records& records, const Options& options) {
  const bool device = has_device(records);
  const int width = options.small ? 64 : 511, height = options.small ? 24 : 95;
  measure_picture(records, "real", fruit(width, height), options, device);
  measure_picture(records, "artificial", artificial(width, height), options, device);
#if CONTORNO_HAVE_CUDA
  if (device && !options.small) {
    KernelTimes times;
    records.time("saxpy", "kernel, C++", measured(options.runs, [&] { return (times = saxpy()).kernels; }));
    records.time("saxpy", "application, C++",
                 measured(options.runs, [&] { return (times = saxpy()).whole; }));
  }
#endif
}

}  // namespace contorno::sources
