#include "plugins/files/shared/path_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/error.h"

namespace contorno {
namespace {

constexpr int kMaxDigits = 20;              // of a 64-bit frame number
constexpr std::size_t kMaxNameBytes = 128;  // leaves room for the rest of a file name (255 bytes)

/// The name of a frame as one harmless path component; UTF-8 passes.
std::string safe_component(std::string_view name) {
  if (const auto slash = name.find_last_of('/'); slash != std::string_view::npos)
    name.remove_prefix(slash + 1);
  if (const auto dot = name.find_last_of('.'); dot != std::string_view::npos && dot > 0)
    name = name.substr(0, dot);
  if (name.size() > kMaxNameBytes) {
    std::size_t length = kMaxNameBytes;
    while (length > 0 && (static_cast<unsigned char>(name[length]) & 0xC0) == 0x80) --length;
    name = name.substr(0, length);
  }
  std::string safe(name);
  for (char& c : safe) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || c == '/' || c == '\\' || c == ':') c = '_';
  }
  if (!safe.empty() && safe.front() == '.') safe.front() = '_';
  return safe;
}

}  // namespace

PathPattern::PathPattern(std::string_view text) : text_(text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if ((c == '{' || c == '}') && at + 1 < text.size() && text[at + 1] == c) {
      add_literal(c);
      ++at;
    } else if (c == '{') {
      const std::size_t close = text.find('}', at);
      if (close == std::string_view::npos)
        throw Error(ExitCode::BadOption, fmt::format("path '{}' has a '{{' without '}}'", text));
      pieces_.push_back(placeholder(text.substr(at + 1, close - at - 1), text));
      at = close;
    } else if (c == '}') {
      throw Error(ExitCode::BadOption,
                  fmt::format("path '{}' has a '}}' without '{{' (write '}}}}' for a brace)", text));
    } else {
      add_literal(c);
    }
  }
}

PathPattern::Piece PathPattern::placeholder(std::string_view word, std::string_view pattern) {
  if (word == "name") return {.kind = Kind::Name};
  if (word == "frame") return {.kind = Kind::Frame};
  constexpr std::string_view kPadded = "frame:0";
  if (word.starts_with(kPadded)) {
    const std::string_view digits = word.substr(kPadded.size());
    int value = 0;
    const bool numeric =
        !digits.empty() && digits.size() <= 2 &&
        std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
    for (const char c : numeric ? digits : std::string_view()) value = value * 10 + (c - '0');
    if (value >= 1 && value <= kMaxDigits) return {.kind = Kind::Frame, .digits = value};
  }
  throw Error(
      ExitCode::BadOption,
      fmt::format("path '{}' has the placeholder '{{{}}}', allowed are {{frame}}, {{frame:06}} (1 to {} "
                  "digits) and {{name}}",
                  pattern, word, kMaxDigits));
}

void PathPattern::add_literal(char c) {
  if (pieces_.empty() || pieces_.back().kind != Kind::Literal) pieces_.push_back({});
  pieces_.back().literal += c;
}

bool PathPattern::varies() const {
  return std::any_of(pieces_.begin(), pieces_.end(), [](const Piece& p) { return p.kind != Kind::Literal; });
}

bool PathPattern::repeats() const {
  return std::none_of(pieces_.begin(), pieces_.end(), [](const Piece& p) { return p.kind == Kind::Frame; });
}

std::string_view PathPattern::prefix() const {
  return pieces_.empty() || pieces_.front().kind != Kind::Literal ? std::string_view()
                                                                  : pieces_.front().literal;
}

std::string_view PathPattern::suffix() const {
  return pieces_.empty() || pieces_.back().kind != Kind::Literal ? std::string_view()
                                                                 : pieces_.back().literal;
}

bool PathPattern::may_meet(const PathPattern& other) const {
  const auto begins = [](std::string_view a, std::string_view b) {
    return a.starts_with(b) || b.starts_with(a);
  };
  const auto ends = [](std::string_view a, std::string_view b) { return a.ends_with(b) || b.ends_with(a); };
  return begins(prefix(), other.prefix()) && ends(suffix(), other.suffix());
}

bool PathPattern::may_make(std::string_view path) const {
  if (!varies()) return path == prefix();
  return path.size() >= prefix().size() + suffix().size() && path.starts_with(prefix()) &&
         path.ends_with(suffix());
}

std::string PathPattern::format(std::uint64_t frame, std::string_view name) const {
  std::string path;
  for (const Piece& piece : pieces_) {
    switch (piece.kind) {
      case Kind::Literal:
        path += piece.literal;
        break;
      case Kind::Frame:
        fmt::format_to(std::back_inserter(path), "{:0{}}", frame, piece.digits);
        break;
      case Kind::Name: {
        const std::string safe = safe_component(name);
        path += safe.empty() ? fmt::format("{:06}", frame) : safe;
        break;
      }
    }
  }
  return path;
}

}  // namespace contorno
