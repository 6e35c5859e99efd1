// The command line as data, for manual pages and completion.
#pragma once

#include "tools/shell/command_page.h"

namespace CLI {
class App;
}

namespace contorno {

/// The program and the commands of a parser that has all of them.
ProgramPages program_pages(const CLI::App& app);

}  // namespace contorno
