#include "tools/points/read_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "config/numbers.h"
#include "pipeline/shared/printable.h"
#include "plugins/files/arrays/array_file.h"
#include "stages/mean_shift/points.h"
#include "stages/shared/sample_value.h"
#include "tools/say.h"
#include "tools/text_file.h"

namespace contorno {
namespace {

constexpr std::string_view kBetween = " \t\r,;";

/// A line of text that has numbers.
struct Row {
  int line = 0;
  std::size_t count = 0;
};

class TextPoints {
 public:
  explicit TextPoints(const std::string& path) : path_(path) {
    const std::string text = read_text_file(path);
    std::string_view rest = text;
    for (int line = 1; !rest.empty(); ++line) {
      const std::size_t end = rest.find('\n');
      read_line(line, rest.substr(0, rest.find_first_of("#%\n")));
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
  }

  Points points() {
    if (has_sides()) {
      values_.erase(values_.begin(), values_.begin() + 2);
      rows_.erase(rows_.begin());
    }
    if (rows_.empty()) return {};
    const std::size_t dims = rows_.front().count;
    for (const Row& row : rows_)
      if (row.count != dims)
        fail(row.line, 1,
             fmt::format("this line has {} of them, line {} has {}", row.count, rows_.front().line, dims));
    if (dims > MeanShift::kMaxDims)
      fail(rows_.front().line, 1,
           fmt::format("this line has {} of them, allowed 1 to {}", dims, MeanShift::kMaxDims));
    return {.values = std::move(values_), .dims = static_cast<int>(dims)};
  }

 private:
  void read_line(int line, std::string_view text) {
    Row row{.line = line};
    for (std::size_t at = text.find_first_not_of(kBetween); at != std::string_view::npos;
         at = text.find_first_not_of(kBetween, at)) {
      const std::size_t end = std::min(text.find_first_of(kBetween, at), text.size());
      values_.push_back(number(line, at, text.substr(at, end - at)));
      ++row.count;
      at = end;
    }
    if (row.count > 0) rows_.push_back(row);
  }
  double number(int line, std::size_t at, std::string_view word) const {
    const std::optional<double> value = config::parse_number(word);
    if (!value) fail(line, at + 1, fmt::format("'{}' is no number", printable(word)));
    return *value;
  }
  bool has_sides() const {
    if (rows_.empty() || rows_.front().count != 2) return false;
    const auto dims = static_cast<double>(rows_.size() > 1 ? rows_[1].count : 0);
    return values_[0] == static_cast<double>(rows_.size() - 1) && values_[1] == dims &&
           std::all_of(rows_.begin() + 1, rows_.end(),
                       [&](const Row& row) { return row.count == rows_[1].count; });
  }
  [[noreturn]] void fail(int line, std::size_t column, const std::string& what) const {
    throw Error(ExitCode::BadData,
                fmt::format("{}:{}:{}: {}; wanted are numbers between spaces or commas, as many on each line",
                            path_, line, column, what));
  }

  const std::string& path_;
  std::vector<double> values_;
  std::vector<Row> rows_;
};

bool is_text(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  return extension == ".txt" || extension == ".csv" || extension == ".dat";
}

}  // namespace

Points read_points(const std::string& path) {
  if (is_text(path)) return TextPoints(path).points();
  std::string odd;
  const NpyArray array = read_array(path, odd);
  warn(odd);
  const auto shape = array.header.shape();
  if (shape.size() > 2 || (shape.size() == 2 && (shape[1] < 1 || shape[1] > MeanShift::kMaxDims)))
    throw Error(ExitCode::BadData, fmt::format("{}: the array is {}, wanted N points x 1 to {} numbers", path,
                                               describe(array.header), MeanShift::kMaxDims));
  Points points;
  points.dims = shape.size() == 2 ? static_cast<int>(shape[1]) : 1;
  with_sample_type(array.header.type, [&]<class T>(const T*) {
    for (const T sample : array.as<T>()) points.values.push_back(value_of(sample, SampleScale{}));
  });
  return points;
}

}  // namespace contorno
