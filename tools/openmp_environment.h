// What the environment tells OpenMP's library, which reads it before main: settings that would crash the
// program or slow it down are mended by starting the program anew.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace contorno {

/// Why `value` is no stack size for threads that the program can run with; nothing where it is one.
std::optional<std::string> stack_size_fault(std::string_view value);

/// Once, first thing in main, before any thread. Says what it leaves out. Returns where nothing has to
/// change, or where the program cannot be started anew.
void settle_openmp_environment(char** argv);

}  // namespace contorno
