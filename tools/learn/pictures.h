// The pictures by which a person judges what `contorno learn` learned. Both are PNG files.
#pragma once

#include <string>

#include "pipeline/graph/graph.h"
#include "tools/learn/colours.h"
#include "tools/learn/frames.h"
#include "tools/learn/sheet.h"

namespace contorno {

/// A row a class: what was pointed at, the reference colours that were found, and how much of the frames
/// looks like it. `graph` gives the colours that the classes are drawn in.
Sheet swatch_sheet(const LearnedColours& learned, const GraphSpec& graph, const ExampleFrames& examples);

/// The kept frames with their picks and a ruler, to read coordinates from; beside each, where `graph` is
/// given, what that makes of it. Runs the graph. Throws what Runner throws.
Sheet frame_sheet(const ExampleFrames& examples, const GraphSpec* graph);

}  // namespace contorno
