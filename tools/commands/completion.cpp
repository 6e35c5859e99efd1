// contorno completion: scripts for shells, and the answers that these ask for.
#include "tools/shell/completion.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "base/error.h"
#include "tools/commands/command_pages.h"
#include "tools/commands/commands.h"
#include "tools/say.h"
#include "tools/shell/scripts.h"

namespace contorno {

void add_completion_command(CLI::App& app, Action& action) {
  std::vector<std::string> shells;
  for (const ShellScript& script : completion_scripts()) shells.emplace_back(script.shell);
  auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "Print a script by which a shell completes commands");
  command->add_option("SHELL", *shell, "The shell")->required()->check(CLI::IsMember(shells));
  command->footer(
      "In bash: source <(contorno completion bash)\n"
      "The script asks 'contorno completion words WORD...' for what the last word may become.");
  command->callback([shell, &action] {
    action = [shell] {
      for (const ShellScript& script : completion_scripts())
        if (script.shell == *shell) print(script.text);
      return static_cast<int>(ExitCode::Ok);
    };
  });
}

bool asks_for_words(const std::vector<std::string>& words) {
  return words.size() > 2 && words[0] == "completion" && words[1] == "words";
}

int answer_words(const CLI::App& app, const Catalog& catalog, const std::vector<std::string>& words) {
  print(complete_line({words.begin() + 2, words.end()}, program_pages(app), catalog).text());
  return static_cast<int>(ExitCode::Ok);
}

}  // namespace contorno
