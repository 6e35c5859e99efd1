// The command loop of the programs that scripts in this folder time in turns with others: commands on
// standard input, one a line, each answered with a line on standard output.
#pragma once

#include <cstdio>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>

namespace contorno {

/// Follows the commands to the end of the input. `answer(command, words)` reads what else the line has from
/// `words`, writes the answer without the end of its line to std::cout, and returns false when it knows no
/// such command, or not yet. Returns the exit status of `program`: 2 for such a command, 1 after a message
/// for an exception, else 0.
template <class Answer>
int answer_commands(const char* program, const Answer& answer) {
  try {
    for (std::string line; std::getline(std::cin, line);) {
      std::istringstream words(line);
      std::string command;
      words >> command;
      if (!answer(command, words)) return 2;
      std::cout << std::endl;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return 1;
  }
  return 0;
}

}  // namespace contorno
