// Everything that `contorno explain` says of a cell, as text with a drawing and as JSON.
#pragma once

#include <string>
#include <vector>

#include "tools/explain/cell.h"

namespace contorno::explain {

struct Explanation {
  std::string name;  ///< of the file
  ImageFormat map;   ///< format of the map, with all classes
  int channel = 0;
  Connectivity connectivity = Connectivity::Low;
  Orientation orientation = Orientation::Low;
  Cell cell;
  std::vector<Segment> segments, others;  ///< of the cell: with `connectivity`, and with the other one
  FoundContours found;                    ///< contours of the class `channel`
  bool by_device = false;                 ///< a device has found the contours too
  std::string difference;                 ///< of the device's contours from the CPU's: see first_difference
};

/// Lines, each with a line break.
std::string text_of(const Explanation& all);
std::string json_of(const Explanation& all);

}  // namespace contorno::explain
