// Faults that the tests plant, to see that what judges an outbox finds them. They are in a module of the
// tests alone, which is compiled for them: not in what is installed.
#pragma once

#include <cstdlib>
#include <string_view>

namespace contorno::outbox {

/// Whether the environment asks for this fault.
#ifdef CONTORNO_PLANTED_FAULTS
inline bool is_planted(std::string_view fault) {
  const char* const asked = std::getenv("CONTORNO_PLANTED_FAULT");
  return asked != nullptr && fault == asked;
}
/// True every `period`th time.
inline bool is_turn(unsigned period) {
  static unsigned calls = 0;
  return ++calls % period == 0;
}
#else
constexpr bool is_turn(unsigned) {
  return false;
}
constexpr bool is_planted(std::string_view) {
  return false;
}
#endif

}  // namespace contorno::outbox
