#include "tests/operations.h"

namespace {

thread_local std::uint64_t blocks = 0;

}  // namespace

extern "C" void __sanitizer_cov_trace_pc();
extern "C" void __sanitizer_cov_trace_pc() {
  ++blocks;
}

namespace contorno::test {

std::uint64_t operations() {
  return blocks;
}

}  // namespace contorno::test
