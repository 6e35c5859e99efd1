// contorno man: the manual pages.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "config/numbers.h"
#include "tools/commands/command_pages.h"
#include "tools/commands/commands.h"
#include "tools/commit.h"
#include "tools/say.h"
#include "tools/shell/manual.h"
#include "tools/text_file.h"

namespace contorno {
namespace {

struct ManArguments {
  std::string name, folder;
};

/// The day of SOURCE_DATE_EPOCH, else that of the commit: never today, so that pages are the same whenever
/// they are made.
std::string date_of_pages() {
  const char* epoch = std::getenv("SOURCE_DATE_EPOCH");
  if (epoch == nullptr || *epoch == '\0') return build_date();
  const std::optional<std::int64_t> seconds = config::whole_number(epoch);
  constexpr std::int64_t kEndOfYear9999 = 253'402'300'799;
  if (!seconds || *seconds < 0 || *seconds > kEndOfYear9999)
    throw Error(ExitCode::Usage,
                fmt::format("SOURCE_DATE_EPOCH is '{}', allowed a whole number of seconds, 0 to {}",
                            printable_sentence(epoch), kEndOfYear9999));
  const std::time_t time = *seconds;
  std::tm day{};
  ::gmtime_r(&time, &day);
  return fmt::format("{:04}-{:02}-{:02}", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday);
}

void write_pages(const std::vector<ManualPage>& pages, const std::filesystem::path& folder) {
  for (const ManualPage& page : pages) {
    const std::filesystem::path path = folder / fmt::format("man{}", page.section) / page.file();
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error)
      throw Error(ExitCode::CannotCreate, fmt::format("cannot create the folder '{}': {}",
                                                      path.parent_path().string(), error.message()));
    write_text_file(path.string(), page.text);
  }
}

int run_man(const ManArguments& arguments, const ProgramPages& pages, const Catalog& catalog) {
  const ManualEdition edition{.version = "contorno " CONTORNO_VERSION, .date = date_of_pages()};
  if (!arguments.folder.empty() && !arguments.name.empty())
    throw Error(ExitCode::Usage, "--all writes every page: leave NAME out");
  if (arguments.folder.empty())
    print(manual_page(pages, catalog, edition, arguments.name).text);
  else
    write_pages(manual_pages(pages, catalog, edition), arguments.folder);
  return static_cast<int>(ExitCode::Ok);
}

}  // namespace

void add_man_command(CLI::App& app, const Catalog& catalog, Action& action) {
  auto arguments = std::make_shared<ManArguments>();
  CLI::App* command = app.add_subcommand("man", "Print a manual page, for man -l");
  command
      ->add_option("NAME", arguments->name,
                   "A command, graph, or a stage, source, sink or section; a page by its file, as "
                   "contorno-stages.7; without it that of contorno")
      ->type_name("PAGE");
  command->add_option("--all", arguments->folder, "Write all pages into man1, man5 and man7 of this folder")
      ->type_name("FOLDER");
  command->footer("contorno man run | man -l -");
  command->callback([&app, arguments, &catalog, &action] {
    action = [&app, arguments, &catalog] { return run_man(*arguments, program_pages(app), catalog); };
  });
}

}  // namespace contorno
