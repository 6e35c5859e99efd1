#include "tools/shell/roff.h"

#include <fmt/format.h>

#include "base/error.h"

namespace contorno {
namespace {

/// The character that begins at `at` of UTF-8 text, and how many bytes it has.
std::pair<char32_t, std::size_t> character_at(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const std::size_t bytes = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if ((first >= 0x80 && first < 0xC2) || first > 0xF4 || at + bytes > text.size())
    throw InternalError("a help text is not UTF-8");
  char32_t code = bytes == 1 ? first : first & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i)
    code = code << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3FU);
  return {code, bytes};
}

/// A plain "-" is a hyphen in print, and ' ` ^ ~ are quotes and accents: none of them can be copied to a
/// shell.
std::string_view escape_of(char c) {
  switch (c) {
    case '\\':
      return "\\e";
    case '-':
      return "\\-";
    case '\'':
      return "\\(aq";
    case '`':
      return "\\(ga";
    case '^':
      return "\\(ha";
    case '~':
      return "\\(ti";
    case '"':
      return "\\(dq";
    default:
      return {};
  }
}

}  // namespace

std::string roff_text(std::string_view text) {
  std::string roff;
  for (std::size_t at = 0; at < text.size();) {
    const auto [code, bytes] = character_at(text, at);
    if (code >= 0x80)
      roff += fmt::format("\\[u{:04X}]", static_cast<std::uint32_t>(code));
    else if (const std::string_view escape = escape_of(text[at]); !escape.empty())
      roff += escape;
    else
      roff.push_back(text[at] == '\n' ? ' ' : text[at]);
    at += bytes;
  }
  return roff;
}

std::string roff_bold(std::string_view text) {
  return "\\fB" + roff_text(text) + "\\fR";
}

std::string roff_italic(std::string_view text) {
  return "\\fI" + roff_text(text) + "\\fR";
}

RoffPage::RoffPage(std::string_view name, int section, std::string_view date, std::string_view version) {
  std::string title(name);
  for (char& c : title)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  // Words are not broken at the ends of lines: many are to be copied.
  text_ = fmt::format(".TH \"{}\" \"{}\" \"{}\" \"{}\" \"contorno\"\n.nh\n.ad l\n", roff_text(title), section,
                      date, roff_text(version));
}

/// A line that begins with a dot or a quote would be a request.
void RoffPage::line(std::string_view roff) {
  if (roff.starts_with('.')) text_ += "\\&";
  text_.append(roff).append("\n");
}

void RoffPage::heading(std::string_view text) {
  text_ += fmt::format(".SH \"{}\"\n", roff_text(text));
}

void RoffPage::subheading(std::string_view text) {
  text_ += fmt::format(".SS \"{}\"\n", roff_text(text));
}

void RoffPage::paragraph(std::string_view text) {
  roff_paragraph(roff_text(text));
}

void RoffPage::roff_paragraph(std::string_view roff) {
  if (roff.empty()) return;
  // Behind a heading mandoc calls the macro needless.
  const std::size_t last = text_.rfind('\n', text_.size() - 2) + 1;
  if (text_.compare(last, 3, ".SH") != 0 && text_.compare(last, 3, ".SS") != 0) text_ += ".PP\n";
  line(roff);
}

void RoffPage::entry(std::string_view roff, std::string_view text) {
  text_ += ".TP\n";
  line(roff);
  line(text.empty() ? "\\&" : roff_text(text));
}

void RoffPage::lines(std::string_view text) {
  text_ += ".PP\n.RS 4\n.nf\n";
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    line(roff_text(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  text_ += ".fi\n.RE\n";
}

}  // namespace contorno
