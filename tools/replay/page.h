// The differences of two records as one HTML page that needs no other file and no network: the contours of
// the worst frames before, after, and over each other.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/replay/compare_records.h"

namespace contorno {

struct DifferencePage {
  std::filesystem::path before, after;  ///< the folders of the records
  std::vector<RecordedValue> values;
  double tolerance = 0;  ///< px
  std::size_t most = 0;  ///< frames that are drawn, the worst ones
};

/// The text of the page. Throws as recorded_contours.
std::string difference_page(const DifferencePage& page, const RecordDifference& difference);

}  // namespace contorno
