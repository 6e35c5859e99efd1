// Draws a cell and its segments with characters.
#pragma once

#include <string>
#include <vector>

#include "pipeline/value/image.h"
#include "tools/explain/cell.h"

namespace contorno::explain {

/// A sample as the map has it, in the fewest digits that its type needs: "0.1", "200".
std::string stored_text(double stored, ElementType type);

/// The name of a segment's end in the drawing and beside it: A and B of the first segment, C and D of the
/// second.
char first_letter(std::size_t segment);
char second_letter(std::size_t segment);

/// The cell with the numbers of its rows and columns, its samples (# high, . low, ? NaN, x masked) and the
/// segments that exist, in several lines, each with a line break.
std::string drawing_of(const Cell& cell, const std::vector<Segment>& segments, ElementType type);

}  // namespace contorno::explain
