#include "config/problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "pipeline/graph/param.h"

namespace contorno::config {
namespace {

constexpr std::size_t kMaxShown = 100;
constexpr std::size_t kMaxLineShown = 100;

/// The line with its tabs as single spaces and its passwords masked, cut to a window around the caret.
struct Excerpt {
  std::string line;
  std::size_t caret = 0;  ///< characters before it
};

Excerpt excerpt(std::string_view line, std::size_t column) {
  std::vector<std::string_view> characters;
  for (std::size_t i = 0; i < line.size();) {
    std::size_t end = i + 1;
    while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) ++end;
    characters.push_back(line.substr(i, end - i));
    i = end;
  }
  const std::size_t first = column > kMaxLineShown - 20 ? column - kMaxLineShown / 2 : 0;
  const std::size_t last = std::min(characters.size(), first + kMaxLineShown);
  Excerpt result{.line = first > 0 ? "..." : "", .caret = column - first + (first > 0 ? 3 : 0)};
  for (std::size_t i = first; i < last; ++i) {
    const bool odd = characters[i] == "\t" || printable(characters[i]) != characters[i];
    result.line += odd ? (characters[i] == "\t" ? " " : "?") : std::string(characters[i]);
  }
  if (last < characters.size()) result.line += "...";
  return result;
}

/// Characters before column `column` of `line`, which counts from 1, once passwords before it are masked.
std::size_t column_when_masked(std::string_view line, int column) {
  std::size_t byte = 0;
  for (int character = 1; character < column && byte < line.size(); ++character)
    byte += std::max<std::size_t>(1, utf8_length(line, byte));
  const std::size_t beyond = static_cast<std::size_t>(column - 1) - character_count(line.substr(0, byte));
  return character_count(masked(line.substr(0, byte))) + beyond;
}

}  // namespace

Problems::Problems(std::string file_name, const SourceText& text, std::vector<std::string> overrides,
                   std::string option)
    : file_name_(std::move(file_name)),
      text_(&text),
      overrides_(std::move(overrides)),
      option_(std::move(option)) {}

void Problems::add(const Place& place, std::string message, std::string fix, ExitCode code) {
  problems_.push_back({place, std::move(message), std::move(fix), code});
}

Problems Problems::empty_copy() const {
  Problems copy = *this;
  copy.problems_.clear();
  return copy;
}

bool Problems::has(const Place& place) const {
  return std::ranges::any_of(problems_, [&](const Problem& one) {
    return one.place.override_index == place.override_index && one.place.line == place.line &&
           one.place.column == place.column;
  });
}

void Problems::add_new(const Problems& others) {
  std::vector<Problem> added;
  std::ranges::copy_if(others.problems_, std::back_inserter(added),
                       [&](const Problem& other) { return !has(other.place); });
  problems_.insert(problems_.end(), added.begin(), added.end());
}

ExitCode Problems::code() const {
  for (const Problem& problem : problems_)
    if (problem.code == ExitCode::BadConfig) return problem.code;
  return problems_.empty() ? ExitCode::Ok : problems_.front().code;
}

std::string Problems::name_of(const Place& place) const {
  if (place.override_index < 0) return fmt::format("line {}", place.line);
  const std::string& given = overrides_[static_cast<std::size_t>(place.override_index)];
  return fmt::format("{}{}", option_, printable(given.substr(0, given.find('='))));
}

std::string Problems::where(const Place& place) const {
  if (place.override_index >= 0) return name_of(place);
  return fmt::format("{}:{}:{}", printable(file_name_, 4096), place.line, place.column);
}

std::string Problems::render(const Problem& problem) const {
  if (problem.place.override_index >= 0) {
    const std::string fix = problem.fix.empty() ? std::string() : fmt::format("\n  fix: {}", problem.fix);
    return fmt::format("{}: error: {}{}", where(problem.place), problem.message, fix);
  }
  const Place& place = problem.place;
  const std::string number = fmt::format("{:>5}", place.line);
  std::string text = fmt::format("{}: error: {}", where(place), problem.message);
  const std::string_view line = text_->line(place.line);
  if (!line.empty()) {
    const Excerpt shown = excerpt(masked(line), column_when_masked(line, place.column));
    const std::size_t room =
        character_count(shown.line) > shown.caret ? character_count(shown.line) - shown.caret : 1;
    const std::size_t length = std::clamp<std::size_t>(static_cast<std::size_t>(place.length), 1, room);
    text += fmt::format("\n{} | {}\n      | {}^{}", number, shown.line, std::string(shown.caret, ' '),
                        std::string(length - 1, '~'));
  }
  if (!problem.fix.empty()) text += fmt::format("\n  fix: {}", problem.fix);
  return text;
}

std::string Problems::report() const {
  std::vector<Problem> sorted = problems_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Problem& a, const Problem& b) {
    return std::make_tuple(a.place.override_index, a.place.line, a.place.column) <
           std::make_tuple(b.place.override_index, b.place.line, b.place.column);
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(sorted.size(), kMaxShown); ++i)
    text.append(i == 0 ? "" : "\n").append(render(sorted[i]));
  if (sorted.size() > kMaxShown) text += fmt::format("\n... and {} more errors", sorted.size() - kMaxShown);
  return text;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates) {
  if (word.size() > 64) return {};
  const std::string near = nearest(word, candidates);
  return near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near);
}

}  // namespace contorno::config
