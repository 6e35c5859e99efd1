#include "tools/replay/compare_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/error.h"
#include "pipeline/shared/printable.h"
#include "plugins/files/contours/contour_lines.h"
#include "plugins/files/shared/open_file.h"
#include "tools/text_file.h"

namespace contorno {
namespace {

std::optional<std::string> content(const std::filesystem::path& record, const std::filesystem::path& file) {
  if (!std::filesystem::exists(record / file)) return std::nullopt;
  return read_regular_file((record / file).string());
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

class FrameComparison {
 public:
  FrameComparison(const std::filesystem::path& before, const std::filesystem::path& after,
                  std::uint64_t place, double tolerance, std::vector<ClassDifference>& classes)
      : before_(before), after_(after), tolerance_(tolerance), classes_(classes) {
    difference_.place = place;
  }

  FrameDifference compare(const std::vector<RecordedValue>& values) {
    const auto was = content(before_, failure_file(difference_.place)),
               is = content(after_, failure_file(difference_.place));
    if (was != is) {
      note(FrameVerdict::Different, !was  ? fmt::format("it failed, and did not before: {}", first_line(*is))
                                    : !is ? fmt::format("it did not fail as before: {}", first_line(*was))
                                          : fmt::format("it failed for another reason: {}; before: {}",
                                                        first_line(*is), first_line(*was)));
      return difference_;
    }
    for (const RecordedValue& value : values) compare_value(value);
    return difference_;
  }

 private:
  void note(FrameVerdict verdict, const std::string& sentence) {
    difference_.verdict = std::max(difference_.verdict, verdict);
    if (difference_.first.empty()) difference_.first = sentence;
  }

  void compare_value(const RecordedValue& value) {
    const std::filesystem::path file = value_file(difference_.place, value);
    const auto was = content(before_, file), is = content(after_, file);
    if (was == is) return;
    if (!was || !is)
      note(FrameVerdict::Different,
           fmt::format("{} {}", value.name, was ? "did not come" : "was not recorded"));
    else if (value.type == PortType::Contours)
      compare_lines(value);
    else
      compare_pictures(value, *was, *is);
  }

  void compare_pictures(const RecordedValue& value, const std::string& was, const std::string& is) {
    ++difference_.pictures;
    note(tolerance_ > 0 ? FrameVerdict::Within : FrameVerdict::Different,
         fmt::format("the picture {} differs: was {}, is {}", value.name, first_line(was), first_line(is)));
  }

  void compare_lines(const RecordedValue& value) {
    const ContourFrame was = recorded_contours(before_, difference_.place, value),
                       is = recorded_contours(after_, difference_.place, value);
    const ContourChanges changes = compare_contours(was, is, pairing_reach(tolerance_));
    difference_.lost += changes.lost.size();
    difference_.added += changes.added.size();
    difference_.moved += changes.moved.size();
    difference_.distance = std::max(difference_.distance, changes.distance);
    bool within =
        tolerance_ > 0 && changes.lost.empty() && changes.added.empty() && changes.distance <= tolerance_;
    for (const ClassChanges& one : changes.classes) {
      within = within && !one.other_name;
      add_class(value, one);
    }
    note(within ? FrameVerdict::Within : FrameVerdict::Different,
         changes.first.empty()
             ? fmt::format("{}: the order of contours, or facts about the frame, differ", value.name)
             : fmt::format("{}: {}", value.name, changes.first));
  }

  void add_class(const RecordedValue& value, const ClassChanges& one) {
    auto found = std::find_if(classes_.begin(), classes_.end(), [&](const ClassDifference& other) {
      return other.value == value.name && other.changes.name == one.name;
    });
    if (found == classes_.end()) {
      classes_.push_back({.value = value.name, .changes = one, .frames = 1});
      return;
    }
    ClassChanges& sum = found->changes;
    ++found->frames;
    sum.lost += one.lost, sum.added += one.added, sum.moved += one.moved;
    sum.distance = std::max(sum.distance, one.distance);
    if (sum.itself.empty()) sum.itself = one.itself;
  }

  const std::filesystem::path &before_, &after_;
  double tolerance_;
  std::vector<ClassDifference>& classes_;
  FrameDifference difference_;
};

}  // namespace

std::size_t RecordDifference::count(FrameVerdict verdict) const {
  return static_cast<std::size_t>(std::count_if(
      frames.begin(), frames.end(), [&](const FrameDifference& frame) { return frame.verdict == verdict; }));
}

std::vector<const FrameDifference*> RecordDifference::worst() const {
  std::vector<const FrameDifference*> found;
  for (const FrameDifference& frame : frames)
    if (frame.verdict != FrameVerdict::Same) found.push_back(&frame);
  const auto order = [](const FrameDifference* frame) {
    return std::tuple(frame->verdict, frame->lost + frame->added, frame->distance);
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const FrameDifference* a, const FrameDifference* b) { return order(a) > order(b); });
  return found;
}

double pairing_reach(double tolerance) {
  constexpr double kLeastReach = 8;
  return std::max(tolerance, kLeastReach);
}

ContourFrame recorded_contours(const std::filesystem::path& record, std::uint64_t place,
                               const RecordedValue& value) {
  const std::string path = (record / value_file(place, value)).string();
  const OpenFile tried(path);  // refuses a pipe, which would be waited for without end
  ContourLines lines(path);
  ContourFrame frame;
  if (!lines.next(frame))
    throw Error(ExitCode::BadData,
                fmt::format("{}: a frame of a record is one line, but the file is empty", printable(path)));
  return frame;
}

RecordDifference compare_records(const std::filesystem::path& before, const std::filesystem::path& after,
                                 const std::vector<std::uint64_t>& places,
                                 const std::vector<RecordedValue>& values, double tolerance) {
  RecordDifference difference;
  std::vector<RecordedValue> ordered = values;
  std::stable_sort(ordered.begin(), ordered.end(), [](const RecordedValue& a, const RecordedValue& b) {
    const auto order = [](const RecordedValue& value) {
      return std::tuple(value.type != PortType::Contours, value.origin.node);
    };
    return order(a) < order(b);
  });
  for (const std::uint64_t place : places)
    difference.frames.push_back(
        FrameComparison(before, after, place, tolerance, difference.classes).compare(ordered));
  return difference;
}

}  // namespace contorno
