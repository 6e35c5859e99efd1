// Mends environment variables that would let OpenMP's library crash the program or slow it down. The library
// reads them before main, so the program is started anew with better ones.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace contorno {

/// What is wrong with `value` as the stack size of threads; nothing where the program can run with it.
std::optional<std::string> stack_size_fault(std::string_view value);

/// Called once, first thing in main, before any thread. Warns of variables that it leaves out. Does not
/// return when it starts the program anew; returns where nothing has to change or the program cannot be
/// started.
void settle_openmp_environment(char** argv);

}  // namespace contorno
