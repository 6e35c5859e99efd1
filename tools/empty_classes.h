// Why a class has no contour: the greatest value that its map had, to be read beside its level. Looked for in
// frames of classes that have none so far.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pipeline/graph/planned.h"
#include "pipeline/run/stats.h"

namespace contorno {

class EmptyClasses {
 public:
  /// `graph` is borrowed. Maps that a device makes are not looked at.
  EmptyClasses(const GraphSpec& graph, Backend backend);

  /// The values that `look` reads.
  std::vector<Origin> reads() const;
  /// Looks at the maps of a result. Called from one thread, for each result in turn (RunOptions::on_result).
  void look(const PlannedGraph& result, const std::vector<ClassCounts>& counts);
  /// Adds what was found to the classes of a report.
  void tell(std::vector<ClassCounts>& classes) const;

 private:
  const GraphSpec& graph_;
  bool has_contours_ = false;
  std::optional<Origin> maps_;  // which the contours that are counted come from
  std::vector<std::optional<MapRange>> ranges_;
  std::uint64_t frames_ = 0;
};

/// The range of the samples of one channel that are numbers; both infinite, the least above the greatest,
/// where none is.
MapRange range_of(const ImageView& map, int channel);

/// "0.5 (127.5 of 255)" for maps of uint8, "0.5" for those of float: a value, and the sample that means it.
std::string value_text(double value, ElementType type);

}  // namespace contorno
