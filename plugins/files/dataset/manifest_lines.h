// The lines of a manifest as cells with names, whether the file is CSV or JSON lines. Pure functions on text.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contorno {

/// Something wrong with a line; the column counts bytes from 1.
struct LineFault {
  std::size_t column = 1;
  std::string sentence;
};

struct ManifestCell {
  std::string name, value;
  std::size_t column = 1;
};

/// A field of a line of CSV, by RFC 4180 but for line breaks in quotes: a quoted field ends on its line.
struct CsvField {
  std::string value;
  std::size_t column = 1;
};
/// Throws LineFault.
std::vector<CsvField> csv_fields(std::string_view line);

/// The names in the first line of a CSV manifest. Throws LineFault for an unknown or doubled name.
std::vector<std::string> csv_columns(std::string_view line);
/// The cells of a further line that are not empty. Throws LineFault, also where there are more or fewer
/// fields than columns.
std::vector<ManifestCell> csv_cells(std::string_view line, std::span<const std::string> columns);

/// The members of an object, those that are null left out; numbers become text. Throws LineFault, also for an
/// unknown or doubled member.
std::vector<ManifestCell> json_cells(std::string_view line);

}  // namespace contorno
