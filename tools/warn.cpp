#include "tools/warn.h"

#include <fmt/format.h>

#include <cstdio>

#include "config/source_text.h"

namespace contorno {

std::string printable_sentence(const std::string& sentence) {
  constexpr std::size_t kMostCharacters = 4096;
  return config::printable(sentence, kMostCharacters);
}

void warn(const std::string& sentence) {
  if (!sentence.empty()) fmt::print(stderr, "contorno: warning: {}\n", printable_sentence(sentence));
}

}  // namespace contorno
