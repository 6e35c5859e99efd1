// Choices of a parameter that stand for a number each: one that ends with kNumberedChoice, as "cuda:N", is
// taken with any number of up to three digits in the place of the N. Who lists choices leaves such a word
// out, or says what may stand there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace contorno {

inline constexpr std::string_view kNumberedChoice = ":N";

/// The choices that can be written as they are.
inline std::vector<std::string> listed_choices(std::vector<std::string> choices) {
  std::erase_if(choices, [](const std::string& choice) { return choice.ends_with(kNumberedChoice); });
  return choices;
}

}  // namespace contorno
