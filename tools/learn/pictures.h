// The two pictures by which a user judges what `contorno learn` has learned.
#pragma once

#include <string>

#include "pipeline/graph/graph.h"
#include "tools/learn/colours.h"
#include "tools/learn/frames.h"
#include "tools/learn/sheet.h"

namespace contorno {

/// A row for each class: its picks, the reference colours that were found, and the share of the pixels that
/// the class has. `graph` gives the colours that classes are drawn in.
Sheet swatch_sheet(const LearnedColours& learned, const GraphSpec& graph, const ExampleFrames& examples);

/// The kept frames with their picks and a ruler to read coordinates from. Where `graph` is given it is run,
/// and its first image for a sink stands beside each frame. Throws what Runner throws, Error(BadData).
Sheet frame_sheet(const ExampleFrames& examples, const GraphSpec* graph);

}  // namespace contorno
