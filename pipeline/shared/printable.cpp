#include "pipeline/shared/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace contorno {
namespace {

constexpr std::string_view kMask = "***";
constexpr std::string_view kSchemeEnd = "://";
constexpr std::size_t kMostOfSentence = 4096;
constexpr std::size_t kMostOfLine = 65536;  // reports of graphs quote much

/// What is secret anywhere, by the last word of its name: user-pw=, access_token=, secret-access-key=.
constexpr std::array<std::string_view, 17> kSecretWords{
    "password", "passwd",     "passphrase", "passcode",    "pwd",          "pw",
    "token",    "secret",     "credential", "credentials", "apikey",       "api-key",
    "api_key",  "access-key", "secret-key", "private-key", "authorization"};
/// What is secret in an address as well: X-Amz-Signature=. Elsewhere these words mean other things.
constexpr std::array<std::string_view, 5> kSecretInAddress{"pass", "key", "auth", "signature", "sig"};

/// A stretch of text that is shown as kMask.
struct Stretch {
  std::size_t begin, end;
};

bool is_blank(char c) {
  return static_cast<unsigned char>(c) <= ' ';
}

char small(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_letter_or_digit(char c) {
  return (small(c) >= 'a' && small(c) <= 'z') || (c >= '0' && c <= '9');
}

/// Whether `name` ends with one of the words.
template <std::size_t N>
bool ends_with_one_of(const std::array<std::string_view, N>& words, std::string_view name) {
  std::string low(name);
  std::transform(low.begin(), low.end(), low.begin(), small);
  return std::any_of(words.begin(), words.end(), [&](std::string_view last) {
    if (!low.ends_with(last)) return false;
    // Long words are never the end of another one; short ones are ("bypass").
    return last.size() > 4 || low.size() == last.size() ||
           !is_letter_or_digit(low[low.size() - last.size() - 1]);
  });
}

bool is_part_of_name(char c) {
  return is_letter_or_digit(c) || c == '_' || c == '-';
}

/// Whether `text` begins with a port and no password: digits up to the path or to the quote that closes the
/// address.
bool is_port(std::string_view text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  if (end == text.size()) return true;
  const bool quote_inside = end + 1 < text.size() && is_letter_or_digit(text[end + 1]);
  return std::string_view("/?#,").find(text[end]) != std::string_view::npos ||
         (std::string_view("\"'").find(text[end]) != std::string_view::npos && !quote_inside);
}

/// The passwords in `token`, which has no blanks: scheme://user:PASSWORD@host. A password may hold what it
/// should not, a slash for example: then it ends at the last @.
void find_passwords(std::string_view token, std::vector<Stretch>& found) {
  const std::size_t last_at = token.rfind('@');
  if (last_at == std::string_view::npos) return;
  for (std::size_t at = token.find(kSchemeEnd); at < last_at; at = token.find(kSchemeEnd, at)) {
    at += kSchemeEnd.size();
    const std::size_t colon = token.find_first_of(":/?#@", at);
    if (colon == std::string_view::npos || token[colon] != ':') continue;
    if (is_port(token.substr(colon + 1))) continue;
    const std::size_t authority_end = token.find_first_of("/?#", colon);
    const std::size_t end = token.substr(0, authority_end).rfind('@');
    found.push_back({colon + 1, end != std::string_view::npos && end > colon ? end : last_at});
    at = found.back().end;
  }
}

/// The values in `token` whose names say that they are secret: ?token=VALUE, &password=VALUE, also
/// /user=a_password=VALUE.
void find_secret_values(std::string_view token, std::vector<Stretch>& found) {
  for (std::size_t equals = token.find('=', token.find(kSchemeEnd)); equals != std::string_view::npos;
       equals = token.find('=', equals + 1)) {
    std::size_t begin = equals;
    while (begin > 0 && is_part_of_name(token[begin - 1])) --begin;
    const std::string_view name = token.substr(begin, equals - begin);
    if (!is_secret_name(name) && !ends_with_one_of(kSecretInAddress, name)) continue;
    const std::size_t end = std::min(token.find_first_of("&;#\"'<>", equals + 1), token.size());
    if (end > equals + 1) found.push_back({equals + 1, end});
    equals = end - 1;
  }
}

bool is_quote(char c) {
  return c == '"' || c == '\'';
}

/// The name in front of `text[at]`, which is = or :, also in quotes and before blanks.
std::string_view name_before(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end > 0 && text[end - 1] == ' ') --end;
  if (end > 0 && is_quote(text[end - 1])) --end;
  if (end > 0 && text[end - 1] == '\\') --end;
  std::size_t begin = end;
  while (begin > 0 && is_part_of_name(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

/// Where a value in quotes ends that begins at `begin`, behind the quote. One that is not closed has the
/// rest.
std::size_t end_of_quoted(std::string_view text, std::size_t begin, char quote, bool is_escaped) {
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      if (is_escaped && text[i + 1] == quote) return i;
      ++i;
    } else if (text[i] == quote) {
      return i;
    }
  }
  return text.size();
}

std::size_t end_of_plain(std::string_view text, std::size_t begin, bool is_mapping) {
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (text[i] == '\n' || is_quote(text[i])) return i;
    if (is_mapping ? std::string_view(",}]").find(text[i]) != std::string_view::npos : is_blank(text[i]))
      return i;
    if (text[i] == '\\' && i + 1 < text.size() && !is_quote(text[i + 1])) ++i;
  }
  return text.size();
}

/// The value behind `text[at]`, which is = or :, without its quotes.
Stretch value_behind(std::string_view text, std::size_t at) {
  const bool is_mapping = text[at] == ':';
  std::size_t begin = std::min(text.find_first_not_of(' ', at + 1), text.size());
  if (is_mapping && begin == at + 1 && !(begin < text.size() && is_quote(text[begin]))) return {at, at};
  constexpr std::string_view kType = "(string)";
  if (text.substr(begin).starts_with(kType))
    begin = std::min(text.find_first_not_of(' ', begin + kType.size()), text.size());
  const bool is_escaped = begin + 1 < text.size() && text[begin] == '\\' && is_quote(text[begin + 1]);
  const std::size_t quote = begin + (is_escaped ? 1 : 0);
  if (quote < text.size() && is_quote(text[quote]))
    return {quote + 1, end_of_quoted(text, quote + 1, text[quote], is_escaped)};
  return {begin, end_of_plain(text, begin, is_mapping)};
}

/// The values in `text` whose names say that they are secret, wherever they stand but in the query of an
/// address.
void find_secret_properties(std::string_view text, std::vector<Stretch>& found) {
  for (std::size_t at = text.find_first_of("=:"); at != std::string_view::npos;
       at = text.find_first_of("=:", at + 1)) {
    if (!is_secret_name(name_before(text, at))) continue;
    std::size_t token = at;
    while (token > 0 && !is_blank(text[token - 1])) --token;
    if (text.substr(token, at - token).find(kSchemeEnd) != std::string_view::npos) continue;
    const Stretch value = value_behind(text, at);
    if (value.end <= value.begin) continue;
    found.push_back(value);
    at = value.end - 1;
  }
}

/// The secrets of the addresses in `text`.
void find_in_addresses(std::string_view text, std::vector<Stretch>& found) {
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    while (begin < text.size() && is_blank(text[begin])) ++begin;
    end = begin;
    while (end < text.size() && !is_blank(text[end])) ++end;
    const std::string_view token = text.substr(begin, end - begin);
    if (token.find(kSchemeEnd) == std::string_view::npos) continue;
    std::vector<Stretch> in_token;
    find_passwords(token, in_token);
    find_secret_values(token, in_token);
    for (const Stretch& one : in_token) found.push_back({begin + one.begin, begin + one.end});
  }
}

bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

/// The code point of a character of three bytes that ends a line elsewhere or turns the direction of writing,
/// else 0.
unsigned deceptive_character(std::string_view text, std::size_t at, std::size_t length) {
  if (length != 3) return 0;
  const auto bits = [&](std::size_t i, unsigned mask) {
    return static_cast<unsigned char>(text[at + i]) & mask;
  };
  const unsigned code = bits(0, 0x0F) << 12 | bits(1, 0x3F) << 6 | bits(2, 0x3F);
  const bool deceptive = (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) ||
                         code == 0x200E || code == 0x200F;
  return deceptive ? code : 0;
}

}  // namespace

bool is_secret_name(std::string_view name) {
  return ends_with_one_of(kSecretWords, name);
}

std::string masked(std::string_view text) {
  std::vector<Stretch> found;
  find_in_addresses(text, found);
  find_secret_properties(text, found);
  std::sort(found.begin(), found.end(), [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
  std::string shown;
  std::size_t done = 0;
  for (const Stretch& stretch : found) {
    if (stretch.begin >= done) shown.append(text.substr(done, stretch.begin - done)).append(kMask);
    done = std::max(done, stretch.end);
  }
  return shown.append(text.substr(std::min(done, text.size())));
}

std::string printable(std::string_view text, std::size_t limit) {
  const std::string open = masked(text);
  std::string shown;
  std::size_t characters = 0;
  for (std::size_t i = 0; i < open.size(); ++characters) {
    if (characters >= limit) return shown + "...";
    const std::size_t length = utf8_length(open, i);
    if (length == 0 || is_control(open, i)) {
      shown += open[i] == '\r' ? "\\r" : fmt::format("\\x{:02x}", static_cast<unsigned char>(open[i]));
      i += 1;
    } else if (open[i] == '\n' || open[i] == '\t') {
      shown += open[i++] == '\n' ? "\\n" : "\\t";
    } else {
      if (const unsigned code = deceptive_character(open, i, length); code != 0)
        shown += fmt::format("\\u{:04x}", code);
      else
        shown.append(open, i, length);
      i += length;
    }
  }
  return shown;
}

std::string printable_sentence(std::string_view text) {
  return printable(text, kMostOfSentence);
}

std::string printable_lines(std::string_view text) {
  std::string shown;
  for (std::size_t at = 0, end = 0; end != std::string_view::npos; at = end + 1) {
    end = text.find('\n', at);
    if (at > 0) shown += '\n';
    shown += printable(text.substr(at, end - at), kMostOfLine);
  }
  return shown;
}

std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF5   ? 0
                             : first >= 0xF0 ? 4
                             : first >= 0xE0 ? 3
                             : first >= 0xC2 ? 2
                                             : 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool surrogate = first == 0xED && byte(1) >= 0xA0;
  const bool too_large = first == 0xF4 && byte(1) >= 0x90;
  return overlong || surrogate || too_large ? 0 : length;
}

bool is_control(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  const bool c1 = byte == 0xC2 && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xA0;
  return (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F || c1;
}

std::size_t character_count(std::string_view utf8) {
  return utf8.size() - static_cast<std::size_t>(std::count_if(utf8.begin(), utf8.end(), is_continuation));
}

std::string_view markup_of(char c) {
  switch (c) {
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '&':
      return "&amp;";
    case '"':
      return "&quot;";
    case '\n':
      return "&#10;";
    case '\t':
      return "&#9;";
    case '\r':
      return "&#13;";
    default:
      return static_cast<unsigned char>(c) < 0x20 ? "\xEF\xBF\xBD" : std::string_view();
  }
}

std::string markup(std::string_view text) {
  std::string escaped;
  for (const char c : text)
    if (const std::string_view other = markup_of(c); !other.empty())
      escaped += other;
    else
      escaped += c;
  return escaped;
}

}  // namespace contorno
