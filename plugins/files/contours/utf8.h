// Text from outside that has to be valid UTF-8 in what is written.
#pragma once

#include <string_view>

namespace contorno {

inline constexpr std::string_view kUtf8Replacement = "\xEF\xBF\xBD";  // U+FFFD

/// Length of the valid UTF-8 sequence that `text` begins with, 0 if there is none.
std::size_t utf8_length(std::string_view text);

/// Calls `take` for each character of `text`, with U+FFFD for each byte that is part of none.
template <class Take>
void for_each_utf8(std::string_view text, Take take) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    take(length == 0 ? kUtf8Replacement : text.substr(0, length));
    text.remove_prefix(length == 0 ? 1 : length);
  }
}

}  // namespace contorno
