// A source whose frames come at the times they were recorded at, or faster or slower by a factor.
#pragma once

#include <memory>

#include "pipeline/graph/source.h"

namespace contorno {

/// Delivers what `source` delivers. A frame that is `t` later than the first one comes `t` / `speed` after
/// it, or when it is asked for, if that is later: none is left out.
std::unique_ptr<Source> make_paced(std::unique_ptr<Source> source, double speed);

}  // namespace contorno
