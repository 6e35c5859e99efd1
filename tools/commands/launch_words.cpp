#include "tools/commands/launch_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "pipeline/shared/printable.h"

namespace contorno {
namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view kPlain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,+-@%=";
constexpr std::string_view kMask = "***";

bool has_only(std::string_view text, std::string_view allowed) {
  return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}

/// A property's name may name a child's: overlay::line-width.
bool is_name(std::string_view text, bool of_child) {
  std::string allowed = std::string(kLetters) + "0123456789_-";
  if (of_child) allowed += ':';
  return has_only(text, allowed) && kLetters.find(text.front()) != std::string_view::npos;
}

void refuse_control_characters(std::string_view what, std::string_view text) {
  if (std::none_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) == 0x7F;
      }))
    return;
  throw Error(ExitCode::BadOption,
              fmt::format("{} is '{}', allowed in a line for a shell is text without control characters",
                          what, text));
}

/// The words of a text with the quotes of a shell, but without what else a shell does (as g_shell_parse_argv,
/// by which the source reads it).
std::vector<std::string> unquoted_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  bool open = false;
  const auto end_word = [&] {
    if (open) words.push_back(word);
    word.clear(), open = false;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool escapes =
        c == '\\' && i + 1 < text.size() && quote != '\'' &&
        (quote == 0 || std::string_view("\"$`\\\n").find(text[i + 1]) != std::string_view::npos);
    if (escapes)
      word += text[++i], open = true;
    else if (c == quote)
      quote = 0;
    else if (quote == 0 && (c == '\'' || c == '"'))
      quote = c, open = true;
    else if (quote == 0 && (c == ' ' || c == '\t' || c == '\n'))
      end_word();
    else
      word += c, open = true;
  }
  end_word();
  return words;
}

}  // namespace

std::string LaunchWords::secret_variable(std::size_t index) {
  return fmt::format("CONTORNO_SECRET_{}", index + 1);
}

/// Inside of single quotes of a shell. A secret stands outside of them, as a variable in double ones.
std::string LaunchWords::quoted(const std::string& what, const Shown& shown, For target) {
  refuse_control_characters(what, shown.text);
  std::string quoted;
  for (std::size_t i = 0; i < shown.text.size(); ++i) {
    const char c = shown.text[i];
    if (shown.has_secret && std::string_view(shown.text).substr(i).starts_with(kMask)) {
      quoted += fmt::format("'\"${}\"'", secret_variable(secrets_.size()));
      secrets_.push_back(what);
      i += kMask.size() - 1;
      continue;
    }
    if (target == For::LaunchValue && (c == '"' || c == '\\')) quoted += '\\';
    quoted += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return quoted;
}

std::string LaunchWords::element(const std::string& name) {
  if (!is_name(name, false))
    throw Error(ExitCode::BadOption,
                fmt::format("element is '{}', allowed is the name of one element", name));
  return name;
}

std::string LaunchWords::property(const std::string& name, const std::string& value) {
  if (!is_name(name, true))
    throw Error(ExitCode::BadOption,
                fmt::format("properties has the name '{}', allowed are letters, digits, - and _", name));
  const std::string shown = is_secret_name(name) ? std::string(kMask) : masked(value);
  if (has_only(value, kPlain) && shown == value) return fmt::format("{}={}", name, value);
  return fmt::format("'{}=\"{}\"'", name, quoted(name, {shown, shown != value}, For::LaunchValue));
}

std::string LaunchWords::properties(const std::string& text) {
  std::string line;
  for (const std::string& word : unquoted_words(text)) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos)
      throw Error(ExitCode::BadOption,
                  fmt::format("properties has '{}', allowed is NAME=VALUE with blanks between them", word));
    line += " " + property(word.substr(0, equals), word.substr(equals + 1));
  }
  return line;
}

/// `text` as caps in a launch line: a word without a slash would be taken for an element.
std::string LaunchWords::caps(const std::string& text) {
  if (has_only(text, kPlain) && text.find('/') != std::string::npos) return text;
  return "capsfilter " + property("caps", text);
}

/// GStreamer puts the words together again with blanks, so that quotes which hold several of them stay
/// quotes.
std::string LaunchWords::launch(const std::string& line) {
  const std::string masked_line = masked(line);
  const bool has_secret = masked_line != line;
  std::string shown, word;
  std::istringstream words(masked_line);
  while (words >> word) {
    const bool is_plain = word == "!" || has_only(word, kPlain);
    const std::string what = word.substr(0, word.find('='));
    shown += (shown.empty() ? "" : " ") +
             (is_plain ? word : "'" + quoted(what, {word, has_secret}, For::Shell) + "'");
  }
  return shown;
}

}  // namespace contorno
