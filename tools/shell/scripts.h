// The scripts by which shells complete command lines of contorno. They ask the program that is on the line,
// by `contorno completion words WORD...`, so that they know all that it knows and need no change with it.
#pragma once

#include <string_view>
#include <vector>

namespace contorno {

struct ShellScript {
  std::string_view shell, text;
};

/// bash (which needs no bash-completion), zsh and fish.
const std::vector<ShellScript>& completion_scripts();

}  // namespace contorno
