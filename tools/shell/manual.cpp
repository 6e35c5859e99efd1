#include "tools/shell/manual.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "config/describe.h"
#include "config/help_page.h"
#include "tools/shell/process_facts.h"
#include "tools/shell/roff.h"

namespace contorno {
namespace {

/// "Run a graph." as it stands behind a name and a dash: "run a graph".
std::string as_title(std::string_view sentence) {
  std::string title(sentence.ends_with('.') ? sentence.substr(0, sentence.size() - 1) : sentence);
  const auto is_capital = [&](std::size_t at) {
    return at < title.size() && title[at] >= 'A' && title[at] <= 'Z';
  };
  if (is_capital(0) && !is_capital(1)) title[0] = static_cast<char>(title[0] - 'A' + 'a');
  return title;
}

/// The first words of every page. The name is followed by a dash and one line, as whatis(1) reads it.
RoffPage begin_page(const std::string& name, int section, std::string_view summary,
                    const ManualEdition& edition) {
  RoffPage page(name, section, edition.date, edition.version);
  page.heading("NAME");
  page.roff_paragraph(roff_text(name) + " \\- " + roff_text(as_title(summary)));
  return page;
}

/// Names of other pages with their sections.
void end_page(RoffPage& page, const std::vector<std::pair<std::string, int>>& others) {
  std::vector<std::string> names;
  for (const auto& [name, section] : others) names.push_back(fmt::format("{}({})", roff_bold(name), section));
  page.heading("SEE ALSO");
  page.roff_paragraph(fmt::format("{}", fmt::join(names, ", ")));
}

std::string with_stop(std::string_view sentence) {
  return std::string(sentence) + (sentence.empty() || sentence.ends_with('.') ? "" : ".");
}

std::string option_text(const CommandOption& option) {
  std::string text = with_stop(option.sentence);
  if (!option.choices.empty()) text += fmt::format(" One of {}.", fmt::join(option.choices, ", "));
  if (!option.fallback.empty()) text += fmt::format(" Default: {}.", option.fallback);
  if (option.required) text += " Required.";
  if (option.repeatable && option.sentence.find("may be repeated") == std::string::npos)
    text += " May be repeated.";
  return text;
}

void write_options(RoffPage& page, const CommandPage& command) {
  if (!command.arguments.empty()) page.heading("ARGUMENTS");
  for (const CommandOption& argument : command.arguments)
    page.entry(roff_italic(argument.names.front()), option_text(argument));
  if (!command.options.empty()) page.heading("OPTIONS");
  for (const CommandOption& option : command.options) {
    std::vector<std::string> names;
    for (const std::string& name : option.names) names.push_back(roff_bold(name));
    const std::string value = option.value.empty() ? "" : " " + roff_italic(option.value);
    page.entry(fmt::format("{}{}", fmt::join(names, ", "), value), option_text(option));
  }
}

std::string synopsis(const CommandPage& command, std::string_view words) {
  std::string roff = fmt::format("{} [{}]", roff_bold(words), roff_italic("OPTIONS"));
  for (const CommandOption& argument : command.arguments) {
    const std::string name = roff_italic(argument.names.front());
    roff += argument.required ? " " + name : " [" + name + "]";
  }
  return roff;
}

ManualPage command_manual(const CommandPage& command, const ManualEdition& edition) {
  const std::string name = "contorno-" + command.name;
  RoffPage page = begin_page(name, 1, command.summary, edition);
  page.heading("SYNOPSIS");
  page.roff_paragraph(synopsis(command, "contorno " + command.name));
  page.heading("DESCRIPTION");
  page.paragraph(with_stop(command.summary));
  page.paragraph(command.footer);
  write_options(page, command);
  page.heading("EXIT STATUS");
  page.roff_paragraph("0 when all went well; for other codes see " + roff_bold("contorno") + "(1).");
  end_page(page, {{"contorno", 1}, {"contorno-graph", 5}, {"contorno-stages", 7}});
  return {.name = name, .section = 1, .text = page.text()};
}

ManualPage program_manual(const ProgramPages& pages, const ManualEdition& edition) {
  const CommandPage& program = pages.program;
  const std::size_t colon = program.summary.find(": ");  // "contorno: what it is"
  const std::string summary = program.summary.substr(colon == std::string::npos ? 0 : colon + 2);
  RoffPage page = begin_page(program.name, 1, summary, edition);
  page.heading("SYNOPSIS");
  page.roff_paragraph(fmt::format("{} {} [...]", synopsis(program, program.name), roff_italic("COMMAND")));
  page.heading("DESCRIPTION");
  page.paragraph(with_stop(program.summary));
  page.heading("COMMANDS");
  std::vector<std::pair<std::string, int>> others;
  for (const CommandPage& command : pages.commands) {
    page.entry(roff_bold(command.name), with_stop(command.summary));
    others.emplace_back("contorno-" + command.name, 1);
  }
  write_options(page, program);
  page.heading("ENVIRONMENT");
  for (const ProcessFact& variable : kEnvironment) page.entry(roff_bold(variable.name), variable.sentence);
  page.heading("EXIT STATUS");
  for (const ProcessFact& code : kExitCodes) page.entry(roff_bold(code.name), with_stop(code.sentence));
  others.insert(others.end(), {{"contorno-graph", 5}, {"contorno-stages", 7}});
  end_page(page, others);
  return {.name = program.name, .section = 1, .text = page.text()};
}

void write_part(RoffPage& page, const config::HelpPage& part) {
  page.paragraph(with_stop(part.summary));
  if (!part.facts.empty()) page.paragraph(with_stop(part.facts));
  for (const config::HelpTable& table : part.tables) {
    page.roff_paragraph(roff_bold(table.title) + ":");
    for (const config::HelpRow& row : table.rows) {
      const std::string facts = row.facts.empty() ? "" : fmt::format(" ({})", row.facts);
      page.entry(roff_bold(row.name) + roff_text(facts), row.sentence);
    }
    page.paragraph(table.after);
  }
  for (const config::HelpExample& example : part.examples) {
    page.roff_paragraph(roff_bold(example.title) + ":");
    page.lines(example.lines);
  }
}

ManualPage graph_manual(const ManualEdition& edition) {
  const std::vector<config::HelpPage>& sections = config::section_pages();
  RoffPage page = begin_page("contorno-graph", 5, sections.front().summary, edition);
  page.heading("DESCRIPTION");
  write_part(page, sections.front());
  for (std::size_t i = 1; i < sections.size(); ++i) {
    page.heading("THE SECTION " + sections[i].name);
    write_part(page, sections[i]);
  }
  end_page(page, {{"contorno", 1}, {"contorno-check", 1}, {"contorno-run", 1}, {"contorno-stages", 7}});
  return {.name = "contorno-graph", .section = 5, .text = page.text()};
}

template <class Type>
void write_parts(RoffPage& page, std::string_view title, const std::vector<const Type*>& types) {
  page.heading(title);
  for (const Type* type : types) {
    page.subheading(type->name);
    write_part(page, config::help_page(*type));
  }
}

ManualPage stages_manual(const Catalog& catalog, const ManualEdition& edition) {
  RoffPage page = begin_page("contorno-stages", 7,
                             "the sources, stages and sinks that graphs of contorno are made of", edition);
  page.heading("DESCRIPTION");
  page.roff_paragraph("What each does, takes and makes, and its parameters, which a graph (see " +
                      roff_bold("contorno-graph") + "(5)) sets by their names.");
  write_parts(page, "SOURCES", catalog.sources);
  write_parts(page, "STAGES", catalog.stages);
  write_parts(page, "SINKS", catalog.sinks);
  end_page(page, {{"contorno", 1}, {"contorno-apply", 1}, {"contorno-stages", 1}, {"contorno-graph", 5}});
  return {.name = "contorno-stages", .section = 7, .text = page.text()};
}

/// One page of what one name means.
ManualPage part_manual(const std::vector<config::HelpPage>& parts, std::string_view word,
                       const ManualEdition& edition) {
  const std::string name = fmt::format("contorno-{}", word);
  RoffPage page = begin_page(name, 7, parts.front().summary, edition);
  for (const config::HelpPage& part : parts) {
    page.heading(fmt::format("{} {}", part.kind, part.name));
    write_part(page, part);
  }
  end_page(page, {{"contorno", 1}, {"contorno-graph", 5}, {"contorno-stages", 7}});
  return {.name = name, .section = 7, .text = page.text()};
}

}  // namespace

std::vector<ManualPage> manual_pages(const ProgramPages& pages, const Catalog& catalog,
                                     const ManualEdition& edition) {
  std::vector<ManualPage> all{program_manual(pages, edition)};
  for (const CommandPage& command : pages.commands) all.push_back(command_manual(command, edition));
  all.push_back(graph_manual(edition));
  all.push_back(stages_manual(catalog, edition));
  return all;
}

ManualPage manual_page(const ProgramPages& pages, const Catalog& catalog, const ManualEdition& edition,
                       std::string_view name) {
  const std::vector<ManualPage> all = manual_pages(pages, catalog, edition);
  std::vector<std::string> known;
  for (const ManualPage& page : all) {
    const std::string word =
        page.name == "contorno" ? page.name : page.name.substr(std::string_view("contorno-").size());
    if (name == page.file() || name == page.name || name == word || (name.empty() && page.name == "contorno"))
      return page;
    known.push_back(word);
  }
  if (const auto parts = config::help_pages(catalog, name); !parts.empty())
    return part_manual(parts, parts.front().name, edition);
  for (const auto* type : catalog.stages) known.push_back(type->name);
  for (const auto* type : catalog.sources) known.push_back(type->name);
  for (const auto* type : catalog.sinks) known.push_back(type->name);
  const std::string near = nearest(std::string(name), known);
  throw Error(
      ExitCode::Usage,
      fmt::format("there is no page '{}'{}; 'contorno --help' lists the commands, 'contorno stages' what "
                  "graphs are made of",
                  name, near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
}

}  // namespace contorno
