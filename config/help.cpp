#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "config/describe.h"
#include "config/help_page.h"
#include "config/node_type.h"
#include "config/problems.h"
#include "config/sections.h"

namespace contorno::config {
namespace {

constexpr std::size_t kTextWidth = 100;

/// Escape codes, or nothing.
class Pen {
 public:
  explicit Pen(TextStyle style) : on_(style == TextStyle::Coloured) {}
  std::string title(std::string_view text) const { return paint("1", text); }
  std::string name(std::string_view text) const { return paint("36", text); }
  std::string faint(std::string_view text) const { return paint("2", text); }

 private:
  std::string paint(std::string_view code, std::string_view text) const {
    return on_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
  }
  bool on_;
};

/// Breaks `text` at blanks so that no line passes kTextWidth; later lines begin with `indent` blanks.
std::string wrap(std::string_view text, std::size_t indent) {
  std::string result;
  std::size_t column = indent;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (!result.empty() && column + 1 + word.size() > kTextWidth) {
      result.append("\n").append(indent, ' ');
      column = indent;
    } else if (!result.empty()) {
      result.push_back(' ');
      ++column;
    }
    result.append(word);
    column += word.size();
    begin = end + 1;
  }
  return result;
}

std::string indented(std::string_view text, std::size_t indent) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    result.append(indent, ' ').append(text.substr(begin, end - begin)).append("\n");
    begin = end + 1;
  }
  return result;
}

std::string table_text(const HelpTable& table, const Pen& pen) {
  std::string text = fmt::format("\n{}\n", pen.title(table.title));
  for (const HelpRow& row : table.rows) {
    const std::string facts = row.facts.empty() ? "" : "  " + pen.faint(row.facts);
    text += fmt::format("  {}{}\n      {}\n", pen.name(row.name), facts, wrap(row.sentence, 6));
  }
  return table.after.empty() ? text : text + fmt::format("  {}\n", wrap(table.after, 2));
}

std::string page_text(const HelpPage& page, const Pen& pen) {
  std::string text = fmt::format("{} {}\n  {}\n", page.kind, pen.title(page.name), wrap(page.summary, 2));
  if (!page.facts.empty()) text += fmt::format("  {}\n", pen.faint(page.facts));
  for (const HelpTable& table : page.tables) text += table_text(table, pen);
  for (const HelpExample& example : page.examples)
    text += fmt::format("\n{}\n{}", pen.title(example.title), indented(example.lines, 2));
  return text;
}

template <class Type>
std::string overview_of(std::string_view title, const std::vector<const Type*>& types, const Pen& pen) {
  std::size_t width = 0;
  for (const Type* type : types) width = std::max(width, type->name.size());
  std::string text = fmt::format("{}\n", pen.title(title));
  for (const Type* type : types)
    text += fmt::format("  {}{:{}}  {}\n", pen.name(type->name), "", width - type->name.size(),
                        wrap(type->summary, width + 4));
  return text;
}

void refuse_left_out(const Catalog& catalog, std::string_view name) {
  for (const LeftOut& one : catalog.left_out)
    if (one.name == name)
      throw Error(ExitCode::Unavailable, fmt::format("'{}' is not in this build: {}", name, one.reason));
}

}  // namespace

std::string help_overview(const Catalog& catalog, TextStyle style) {
  const Pen pen(style);
  return overview_of("sources", catalog.sources, pen) + "\n" + overview_of("stages", catalog.stages, pen) +
         "\n" + overview_of("sinks", catalog.sinks, pen) + "\n" +
         wrap(
             "Say 'contorno stages NAME' for one of them, or for 'graph' and the sections 'pipeline' and "
             "'classes'.",
             0) +
         "\n";
}

const SourceType& source_called(const Catalog& catalog, std::string_view name) {
  if (const SourceType* type = catalog.source(name)) return *type;
  refuse_left_out(catalog, name);
  throw InternalError(fmt::format("no source '{}'", name));
}

const SinkType& sink_called(const Catalog& catalog, std::string_view name) {
  if (const SinkType* type = catalog.sink(name)) return *type;
  refuse_left_out(catalog, name);
  throw InternalError(fmt::format("no sink '{}'", name));
}

std::string help_text(const Catalog& catalog, std::string_view name, TextStyle style) {
  const Pen pen(style);
  std::vector<std::string> pages;
  for (const HelpPage& page : help_pages(catalog, name)) pages.push_back(page_text(page, pen));
  if (name == "source" || name == "sources") pages.push_back(overview_of("sources", catalog.sources, pen));
  if (name == "stage" || name == "stages") pages.push_back(overview_of("stages", catalog.stages, pen));
  if (name == "sink" || name == "sinks") pages.push_back(overview_of("sinks", catalog.sinks, pen));
  if (!pages.empty()) return fmt::format("{}", fmt::join(pages, "\n"));
  refuse_left_out(catalog, name);
  std::vector<std::string> known{"graph", "pipeline", "classes", "live", "ops", "sources", "stages", "sinks"};
  for (const auto& names : {names_of(catalog.sources), words_of(catalog.stages), names_of(catalog.sinks)})
    known.insert(known.end(), names.begin(), names.end());
  throw Error(ExitCode::Usage, fmt::format("there is no '{}'{}; 'contorno stages' lists all", printable(name),
                                           did_you_mean(std::string(name), known)));
}

}  // namespace contorno::config
