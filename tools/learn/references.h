// Chooses reference colours that tell the picked classes from each other and from everything else.
#pragma once

#include "tools/learn/learner.h"

namespace contorno {

/// Adds references to the classes, of which the last is everything else: again and again the one by which
/// most samples more go to their own class, until none is worth it.
void add_references(const Learner& learner, LearnedColours& learned);

}  // namespace contorno
