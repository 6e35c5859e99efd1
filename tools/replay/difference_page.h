// The section of a replay's page about differences: of the frames that differ most the contours before,
// after, and over each other, on the frame where the source has one.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tools/replay/compare_records.h"

namespace contorno {

struct DifferencePage {
  std::filesystem::path before, after;  ///< the folders of the records
  std::vector<RecordedValue> values;
  double tolerance = 0;    ///< px
  std::size_t most = 0;    ///< frames that are drawn, the worst ones
  const GraphSpec& graph;  ///< as it is given, whose source has the frames that contours are drawn on
  const PlacementsOfValues& placements;
};

/// The part of a page about differences: what changed in the graph, which classes and frames differ. Throws
/// as recorded_contours.
std::string difference_section(const DifferencePage& page, const RecordDifference& difference);

}  // namespace contorno
