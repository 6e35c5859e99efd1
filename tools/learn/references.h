// References that tell classes apart, for what was pointed at and for everything else.
#pragma once

#include "tools/learn/learner.h"

namespace contorno {

/// Adds references to the classes, of which the last is everything else, one after the other, always the one
/// that sorts the samples best, as long as one is worth it.
void add_references(const Learner& learner, LearnedColours& learned);

}  // namespace contorno
