// What the parser of the command line knows of the program and each of its commands, as manual pages and
// completion read it.
#pragma once

#include <string>
#include <vector>

namespace contorno {

/// An option, or an argument that is told by its place.
struct CommandOption {
  std::vector<std::string> names;  ///< "-o", "--output"; of an argument its one name, "GRAPH"
  std::string value;               ///< what it takes, "FILE" or "INT"; empty for a flag
  std::vector<std::string> choices;
  std::string fallback;  ///< its default, or empty
  std::string sentence;
  bool required = false;
  bool repeatable = false;
};

struct CommandPage {
  std::string name;  ///< of the command; of the program itself: "contorno"
  std::string summary, footer;
  std::vector<CommandOption> arguments, options;
};

/// The program, and its commands in the order of its help.
struct ProgramPages {
  CommandPage program;
  std::vector<CommandPage> commands;
};

}  // namespace contorno
