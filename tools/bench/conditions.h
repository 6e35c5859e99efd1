// The conditions of a measurement in one line, which every benchmark prints before its figures.
#pragma once

#include <string>

namespace contorno {

/// "conditions: contorno 1.0.0, commit 0123456789, build g++ ..., processor ..., load average 0.05 0.10 0.08
/// (idle)": the build, the machine with its clocks, and what else it has to do, as far as that can be found
/// out; of a graphics card, too, where one answers. "shared": in the last minute more than half a processor
/// was at work on the average. Names no machine and no user.
std::string conditions_line();

}  // namespace contorno
