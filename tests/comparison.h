// What a test says of two things that have to be equal: nothing, or a sentence with what differs first. CHECK
// takes it as a condition, and prints the sentence where it does not hold.
#pragma once

#include <cstddef>
#include <cstring>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>

namespace contorno::test {

struct Comparison {
  std::string difference;  ///< empty: they are the same
  explicit operator bool() const { return difference.empty(); }
  friend std::ostream& operator<<(std::ostream& out, const Comparison& one) {
    return out << (one.difference.empty() ? "the same" : one.difference);
  }
};

/// Of two numbers that have a name, as `points`.
template <class T>
Comparison compare_values(std::string_view what, const T& a, const T& b) {
  if (a == b) return {};
  std::ostringstream text;
  text << what << ": " << +a << " and " << +b;
  return {text.str()};
}

/// Bit for bit, so that NaN equals itself; `print` writes an element. Without elements the pointers may be
/// null.
template <class T, class Print>
Comparison compare_lists(std::string_view what, const T* a, const T* b, std::size_t count, Print print) {
  if (count == 0 || std::memcmp(a, b, count * sizeof(T)) == 0) return {};
  std::size_t first = 0, differ = 0;
  for (std::size_t i = count; i-- > 0;)
    if (std::memcmp(a + i, b + i, sizeof(T)) != 0) first = i, ++differ;
  std::ostringstream text;
  text.precision(17);
  text << what << "[" << first << "]: ";
  print(text, a[first]);
  text << " and ";
  print(text, b[first]);
  text << "; " << differ << " of " << count << " differ";
  return {text.str()};
}

template <class T>
Comparison compare_lists(std::string_view what, const T* a, const T* b, std::size_t count) {
  return compare_lists(what, a, b, count, [](std::ostream& text, const T& one) { text << +one; });
}

}  // namespace contorno::test
