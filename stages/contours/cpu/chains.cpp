#include "stages/contours/cpu/chains.h"

namespace contorno {

WalkTable::WalkTable(Connectivity connectivity, int row_bits) {
  const CrossingTables crossings = make_crossing_tables(connectivity);
  for (unsigned side = 0; side < kSides; ++side) {
    for (unsigned code = 0; code < kCodes; ++code) {
      const auto step = [&](const Crossing& crossing) {
        return Step{row_step(crossing.other) * row_bits + column_step(crossing.other),
                    static_cast<std::uint16_t>(16 * opposite(crossing.other)), crossing.sub};
      };
      forward[16 * side + code] = step(crossings.forward[side][code]);
      backward[16 * side + code] = step(crossings.backward[side][code]);
    }
  }
  for (int code = 0; code < kCodes; ++code) {
    for (int sub = 0; sub < 2; ++sub) {
      const CellSegment& segment = cell_case(code, connectivity).segment[sub];
      from[2 * code + sub] = static_cast<std::uint8_t>(16 * segment.from);
      to[2 * code + sub] = static_cast<std::uint8_t>(16 * segment.to);
    }
  }
}

}  // namespace contorno
