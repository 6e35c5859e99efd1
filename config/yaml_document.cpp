#include "config/yaml_document.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "config/problems.h"

namespace contorno::config {
namespace {

/// Thrown to leave the parser when going on makes no sense; the problem has been added already.
struct Stop {};

constexpr const char* kOpenQuote = "this quote is not closed on its line";
constexpr const char* kOpenQuoteFix = "close it, with the same quote it begins with";

/// Where the quote that opens at `begin` closes, npos when not on this line.
std::size_t end_of_quote(std::string_view line, std::size_t begin) {
  const char quote = line[begin];
  std::size_t end = begin + 1;
  while (end < line.size() && line[end] != quote) end += quote == '"' && line[end] == '\\' ? 2 : 1;
  return end < line.size() ? end : std::string_view::npos;
}

/// Builds the tree from the parser's events. It never expands an alias, so no file can grow in memory.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(const SourceText& source, Problems& problems) : source_(source), problems_(problems) {}

  YamlNode take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ == 0) return;
    problems_.add(source_.place(mark.line, mark.column, 3),
                  "a second document starts here; a graph file is one",
                  "keep one graph in a file and remove the '---'");
    throw Stop();
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    add(YamlNode{.place = source_.place(mark.line, mark.column)});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    problems_.add(word(mark), "aliases are not allowed", "write the value out");
    add(YamlNode{.place = word(mark)});
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_tag(mark);
    refuse_anchor(mark, anchor);
    refuse_long_quote(mark);
    const bool quoted = tag != "?";
    const Place place =
        source_.place(mark.line, mark.column, static_cast<int>(value.size()) + (quoted ? 2 : 0));
    add(YamlNode{.kind = YamlKind::Scalar,
                 .style = quoted ? ScalarStyle::Quoted : ScalarStyle::Plain,
                 .place = place,
                 .text = value});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, anchor, YamlKind::List);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, anchor, YamlKind::Map);
  }
  void OnMapEnd() override {
    refuse_duplicates(stack_.back().node);
    close();
  }

 private:
  struct Level {
    YamlNode node;
    bool key_is_next = true;  ///< in a map: whether the next node is a key
  };

  /// The place of the word (anchor, alias or tag) at `mark`.
  Place word(const YAML::Mark& mark) const {
    const std::string_view rest = source_.rest_of_line(mark.line, mark.column);
    const std::size_t length = std::min(rest.find_first_of(" ,]}\t"), rest.size());
    return source_.place(mark.line, mark.column, static_cast<int>(length));
  }
  void refuse_tag(const YAML::Mark& mark) {
    std::string_view rest = source_.rest_of_line(mark.line, mark.column);
    if (rest.starts_with('!'))
      problems_.add(word(mark), "tags are not allowed", "remove it: types follow from the key");
  }
  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) problems_.add(word(mark), "anchors are not allowed", "remove it and write values out");
  }
  /// A forgotten quote swallows the lines behind it up to the next one, often without any error.
  void refuse_long_quote(const YAML::Mark& mark) {
    const std::string_view rest = source_.rest_of_line(mark.line, mark.column);
    if ((rest.starts_with('"') || rest.starts_with('\'')) && end_of_quote(rest, 0) == std::string_view::npos)
      problems_.add(source_.place(mark.line, mark.column), kOpenQuote, kOpenQuoteFix);
  }
  void open(const YAML::Mark& mark, YAML::anchor_t anchor, YamlKind kind) {
    refuse_tag(mark);
    refuse_anchor(mark, anchor);
    if (stack_.size() >= kMaxDepth) {
      problems_.add(source_.place(mark.line, mark.column), fmt::format("nested deeper than {}", kMaxDepth));
      throw Stop();
    }
    count_value(mark.line, mark.column);
    stack_.push_back({.node = {.kind = kind, .place = source_.place(mark.line, mark.column)}});
  }
  void close() {
    YamlNode node = std::move(stack_.back().node);
    stack_.pop_back();
    attach(std::move(node));
  }
  void add(YamlNode node) {
    count_value(node.place.line - 1, 0);
    attach(std::move(node));
  }
  void count_value(int line, int column) {
    if (++values_ <= kMaxYamlValues) return;
    problems_.add(source_.place(line, column),
                  fmt::format("more than {} values in one graph", kMaxYamlValues));
    throw Stop();
  }
  void attach(YamlNode node) {
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Level& level = stack_.back();
    if (level.node.kind == YamlKind::List) {
      level.node.items.push_back(std::move(node));
    } else if (std::exchange(level.key_is_next, !level.key_is_next)) {
      if (node.kind != YamlKind::Scalar) problems_.add(node.place, "a key must be a word");
      level.node.entries.push_back({.key = node.text, .place = node.place, .value = {}});
    } else {
      YamlEntry& entry = level.node.entries.back();
      if (node.kind == YamlKind::Null) node.place = entry.place;
      entry.value = std::move(node);
    }
  }
  void refuse_duplicates(const YamlNode& map) {
    std::unordered_map<std::string_view, const YamlEntry*> seen;
    for (const YamlEntry& entry : map.entries) {
      const auto [first, is_new] = seen.emplace(entry.key, &entry);
      if (is_new) continue;
      problems_.add(entry.place,
                    fmt::format("duplicate key '{}', first given in {}", printable(entry.key),
                                problems_.name_of(first->second->place)),
                    "keep one of the two");
    }
  }

  const SourceText& source_;
  Problems& problems_;
  std::vector<Level> stack_;
  YamlNode root_;
  std::size_t values_ = 0;
  int documents_ = 0;
};

/// yaml-cpp notices a missing quote far behind it, often only at the end of the file. The mistake is at the
/// first quote that opens a value and is not closed on its line.
std::optional<Place> open_quote(const SourceText& source, int last_line) {
  for (int number = 1; number <= last_line; ++number) {
    const std::string_view line = source.line(number);
    char before = ' ', token_before = ' ';  // the last character, and the last one that is no blank
    for (std::size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      if (c == '#' && before == ' ') break;
      const bool starts_value = std::string_view(" :-[{,?").find(token_before) != std::string_view::npos &&
                                std::string_view(" [{,").find(before) != std::string_view::npos;
      if ((c == '"' || c == '\'') && starts_value) {
        const std::size_t end = end_of_quote(line, i);
        if (end == std::string_view::npos) return source.place(number - 1, static_cast<int>(i));
        i = end;
      }
      before = line[i];
      if (before != ' ') token_before = before;
    }
  }
  return std::nullopt;
}

/// `[#d9912b]` opens a list that a comment swallows; the parser notices at the end of the file. The first
/// such colour that stands where a value begins, outside of quotes.
std::optional<Place> unquoted_colour(const SourceText& source, int last_line) {
  for (int number = 1; number <= last_line; ++number) {
    const std::string_view line = source.line(number);
    for (std::size_t i = 1; i < line.size(); ++i) {
      if (line[i] == '"' || line[i] == '\'') {
        i = end_of_quote(line, i);
        if (i == std::string_view::npos) break;
        continue;
      }
      if (line[i] != '#' || std::string_view(" [{,").find(line[i - 1]) == std::string_view::npos) continue;
      const std::string_view word = line.substr(i, line.find_first_of(" ,]}", i) - i);
      const std::size_t before = line.find_last_not_of(' ', i - 1);
      const bool value = before != std::string_view::npos &&
                         std::string_view("[{,:").find(line[before]) != std::string_view::npos;
      const bool digits = word.find_first_not_of("0123456789abcdefABCDEF", 1) == std::string_view::npos;
      if (value && digits && (word.size() == 7 || word.size() == 9))
        return source.place(number - 1, static_cast<int>(i), static_cast<int>(word.size()));
      break;  // a comment
    }
  }
  return std::nullopt;
}

/// A parser message in words that help.
void add_syntax_problem(const YAML::Exception& error, const SourceText& source, Problems& problems) {
  const Place place = error.mark.is_null() ? Place{} : source.place(error.mark.line, error.mark.column);
  if (const std::optional<Place> quote = open_quote(source, place.line)) {
    // The parser may have read on to another quote and given this one as a value (refuse_long_quote).
    if (!problems.has(*quote)) problems.add(*quote, kOpenQuote, kOpenQuoteFix);
    return;
  }
  if (const std::optional<Place> colour = unquoted_colour(source, place.line)) {
    const std::string_view line = source.line(colour->line);
    problems.add(*colour, "# begins a comment here, so the list never ends",
                 fmt::format("quote colours: \"{}\"",
                             line.substr(line.find('#'), static_cast<std::size_t>(colour->length))));
    return;
  }
  // A tab is only an error in indentation, but there yaml-cpp reports all sorts of things behind it.
  for (int number = place.line; number >= std::max(1, place.line - 1); --number) {
    const std::string_view line = source.line(number);
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos || line.find_first_not_of(" \t-") < tab) continue;
    problems.add(source.place(number - 1, static_cast<int>(tab)), "a tab in the indentation", "use spaces");
    return;
  }
  const std::string_view rest = source.line(place.line);
  const std::string hint =
      rest.find('@') != std::string_view::npos || rest.find('`') != std::string_view::npos ||
              rest.find('%') != std::string_view::npos || rest.find(": ") != rest.rfind(": ")
          ? "quote text that holds special characters: \"...\""
          : "";
  const bool undefined = error.msg.find("anchor is not defined") != std::string::npos;
  problems.add(
      place,
      undefined ? "aliases are not allowed, and this one names nothing" : "no valid YAML: " + error.msg,
      undefined ? "write the value out, or quote the text if the * belongs to it" : hint);
}

}  // namespace

const YamlEntry* YamlNode::find(std::string_view key) const {
  const auto it =
      std::find_if(entries.begin(), entries.end(), [&](const YamlEntry& e) { return e.key == key; });
  return it == entries.end() ? nullptr : &*it;
}

YamlEntry* YamlNode::find(std::string_view key) {
  return const_cast<YamlEntry*>(std::as_const(*this).find(key));
}

std::string describe(const YamlNode& node) {
  switch (node.kind) {
    case YamlKind::Null:
      return "nothing";
    case YamlKind::Scalar:
      return fmt::format("'{}'", printable(node.text));
    case YamlKind::List:
      return "a list";
    case YamlKind::Map:
      return "a map";
  }
  return {};
}

YamlNode parse_yaml(const SourceText& source, Problems& problems) {
  TreeBuilder builder(source, problems);
  try {
    std::istringstream stream(source.text());
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Stop&) {
  } catch (const YAML::Exception& error) {
    add_syntax_problem(error, source, problems);
  }
  return builder.take();
}

}  // namespace contorno::config
