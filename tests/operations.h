// How much a program computes, as a number that depends on what it is given and on nothing else: the basic
// blocks that it runs. Code that is compiled with -fsanitize-coverage=trace-pc calls a function in each of
// them; of other code, that of other libraries too, nothing is counted.
#pragma once

#include <cstdint>

namespace contorno::test {

/// The basic blocks that this thread has run since it began.
std::uint64_t operations();

}  // namespace contorno::test
