// Choices of a parameter that stand for a number each: one that ends with kNumberedChoice, as "cuda:N", is
// taken with any number of up to three digits in the place of the N. Who lists choices leaves such a word
// out, or says what may stand there.
#pragma once

#include <string_view>

namespace contorno {

inline constexpr std::string_view kNumberedChoice = ":N";

}  // namespace contorno
