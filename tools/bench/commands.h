// The command loop of the programs that the scripts in this folder run side by side with other programs, to
// time them in turns: commands on standard input, one a line, each answered with a line on standard output.
#pragma once

#include <cstdio>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>

#include "tools/bench/conditions.h"

namespace contorno {

/// Prints the conditions of measuring on standard error, then answers commands to the end of the input.
/// `answer(command, words)` reads the rest of the line from `words`, writes the answer to std::cout without a
/// line break, and returns false for a command that it does not know or that needs another one first. Returns
/// the exit status of the program: 2 after such a command, 1 after an exception, of which it prints the
/// message behind `program`, else 0.
template <class Answer>
int answer_commands(const char* program, const Answer& answer) {
  try {
    std::fprintf(stderr, "%s\n", conditions_line().c_str());
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
