// Counts every operator new of the program, so that a test can show that a frame does without.
#pragma once

#include <cstdint>

namespace contorno::test {

std::uint64_t allocations();

}  // namespace contorno::test
