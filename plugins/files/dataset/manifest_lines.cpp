#include "plugins/files/dataset/manifest_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "pipeline/graph/param.h"
#include "pipeline/shared/printable.h"

namespace contorno {
namespace {

constexpr std::array<std::string_view, 6> kNames{"frame", "maps", "timestamp", "pts_ns", "camera", "truth"};
constexpr int kDeepestJson = 8;

/// Names that begin with an underscore are the user's own.
bool is_own(std::string_view name) {
  return name.starts_with('_');
}

void check_name(std::string_view what, const std::string& name, std::size_t column) {
  if (is_own(name) || std::find(kNames.begin(), kNames.end(), name) != kNames.end()) return;
  const std::string near = nearest(name, {kNames.begin(), kNames.end()});
  throw LineFault{
      column,
      fmt::format("unknown {} '{}'{}; allowed are {}, and names that begin with _", what, printable(name),
                  near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near), fmt::join(kNames, ", "))};
}

/// The quoted field at `at`; moves `at` behind its closing quote.
std::string quoted_field(std::string_view line, std::size_t& at) {
  const std::size_t begin = at;
  std::string value;
  for (++at; at < line.size(); ++at) {
    if (line[at] != '"') {
      value += line[at];
    } else if (at + 1 < line.size() && line[at + 1] == '"') {
      value += line[++at];
    } else {
      ++at;
      return value;
    }
  }
  throw LineFault{begin + 1, "the quote is not closed on this line"};
}

/// Where the name of a member stands: the first place from `from` on where it is in quotes before a colon.
std::size_t column_of(std::string_view line, const std::string& name, std::size_t from = 0) {
  const std::string quoted = fmt::format("\"{}\"", name);
  for (std::size_t at = line.find(quoted, from); at != std::string_view::npos;
       at = line.find(quoted, at + 1)) {
    const std::size_t next = line.find_first_not_of(" \t", at + quoted.size());
    if (next != std::string_view::npos && line[next] == ':') return at + 1;
  }
  return 1;
}

/// nlohmann's parser, which has no limit of its own for how deep a text is nested, and would take the last of
/// several members of one name.
nlohmann::json parsed_object(std::string_view line) {
  std::set<std::string> names;
  const auto check = [&](int depth, nlohmann::json::parse_event_t event, const nlohmann::json& parsed) {
    if (depth > kDeepestJson) throw LineFault{1, "it is nested too deeply, wanted is an object of texts"};
    if (depth == 1 && event == nlohmann::json::parse_event_t::key) {
      const auto& name = parsed.get_ref<const std::string&>();
      if (!names.insert(name).second)
        throw LineFault{column_of(line, name, column_of(line, name)),
                        fmt::format("the member '{}' is there twice", printable(name))};
    }
    return true;
  };
  try {
    return nlohmann::json::parse(line, check);
  } catch (const nlohmann::json::parse_error& error) {
    const std::string_view what = error.what();
    const std::size_t reason = what.rfind(": ");
    throw LineFault{std::max<std::size_t>(error.byte, 1),
                    fmt::format("it is no object of JSON ({})",
                                reason == std::string_view::npos ? what : what.substr(reason + 2))};
  } catch (const nlohmann::json::exception& error) {  // a number beyond all that a double holds
    const std::string_view what = error.what();
    throw LineFault{1, fmt::format("it cannot be read ({})", what.substr(what.find(' ') + 1))};
  }
}

}  // namespace

std::vector<CsvField> csv_fields(std::string_view line) {
  std::vector<CsvField> fields;
  for (std::size_t at = 0;; ++at) {
    const std::size_t begin = at;
    std::string value;
    if (at < line.size() && line[at] == '"') {
      value = quoted_field(line, at);
      if (at < line.size() && line[at] != ',')
        throw LineFault{at + 1, "a comma or the end of the line is missing behind the quote"};
    } else {
      at = std::min(line.find(',', at), line.size());
      value = line.substr(begin, at - begin);
    }
    fields.push_back({std::move(value), begin + 1});
    if (at >= line.size()) return fields;
  }
}

std::vector<std::string> csv_columns(std::string_view line) {
  std::vector<std::string> columns;
  for (CsvField& field : csv_fields(line)) {
    check_name("column", field.value, field.column);
    if (std::find(columns.begin(), columns.end(), field.value) != columns.end())
      throw LineFault{field.column, fmt::format("the column '{}' is there twice", printable(field.value))};
    columns.push_back(std::move(field.value));
  }
  const auto has = [&](const char* name) {
    return std::find(columns.begin(), columns.end(), name) != columns.end();
  };
  if (!has("frame") && !has("maps"))
    throw LineFault{1, "the first line names the columns, and one of frame and maps must be among them"};
  return columns;
}

std::vector<ManifestCell> csv_cells(std::string_view line, std::span<const std::string> columns) {
  std::vector<CsvField> fields = csv_fields(line);
  if (fields.size() != columns.size())
    throw LineFault{fields[std::min(fields.size(), columns.size() + 1) - 1].column,
                    fmt::format("the line has {} fields, the first line {}", fields.size(), columns.size())};
  std::vector<ManifestCell> cells;
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (!is_own(columns[i]) && !fields[i].value.empty())
      cells.push_back({columns[i], std::move(fields[i].value), fields[i].column});
  return cells;
}

std::vector<ManifestCell> json_cells(std::string_view line) {
  const nlohmann::json object = parsed_object(line);
  if (!object.is_object())
    throw LineFault{1, fmt::format("it is {}, wanted is an object", object.type_name())};
  std::vector<ManifestCell> cells;
  for (const auto& [name, value] : object.items()) {
    const std::size_t column = column_of(line, name);
    check_name("member", name, column);
    if (is_own(name) || value.is_null()) continue;
    if (value.is_string())
      cells.push_back({name, value.get<std::string>(), column});
    else if (value.is_number_unsigned())
      cells.push_back({name, value.dump(), column});
    else if (value.is_number_float() && value.get<double>() >= 0)
      cells.push_back({name, fmt::format("{:.9f}", value.get<double>()), column});
    else
      throw LineFault{column, fmt::format("{} is {}, wanted is a text or a number from 0", name,
                                          value.is_number() ? value.dump() : value.type_name())};
  }
  return cells;
}

}  // namespace contorno
