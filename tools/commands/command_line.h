// The command line as a whole: the subcommands, what is refused, and the exit code of every error.
#pragma once

#include <exception>

#include "pipeline/graph/graph.h"

namespace contorno {

/// Parses the words behind the program's name, runs the subcommand that they name with `built_in` and what
/// the files of `--load` add to it, and returns its exit code. Throws Error(Usage) for words that nobody
/// takes, and what the subcommand throws.
int run_command_line(int argc, char** argv, const Catalog& built_in);

/// Says what went wrong and returns the exit code that goes with it. Where memory has ended there may be none
/// for the sentence either.
int report(const std::exception& error);

}  // namespace contorno
