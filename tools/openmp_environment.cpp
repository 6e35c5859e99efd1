#include "tools/openmp_environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tools/say.h"

namespace contorno {
namespace {

// Less than a stage's frames need ends in a crash; more than this for each of many threads in no threads at
// all.
constexpr std::uint64_t kLeastStack = 256 << 10;
constexpr std::uint64_t kMostStack = std::uint64_t{1} << 30;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

/// A size as the OpenMP specification writes it: a number of KiB, or one with B, K, M or G behind it.
std::optional<std::uint64_t> size_in_bytes(std::string_view text) {
  text = trimmed(text);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit = trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
  if (unit.size() > 1) return std::nullopt;
  number = std::min(number, kMostStack + 1);  // so that no shift overflows
  switch (unit.empty() ? 'K' : unit[0]) {
    case 'b':
    case 'B':
      return number;
    case 'k':
    case 'K':
      return number << 10;
    case 'm':
    case 'M':
      return number << 20;
    case 'g':
    case 'G':
      return number << 30;
    default:
      return std::nullopt;
  }
}

/// Whole numbers above 0, by commas, as OpenMP wants them for nested loops.
bool is_thread_list(std::string_view text) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view word = trimmed(text.substr(begin, end - begin));
    int number = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || stop != word.data() + word.size() || number < 1) return false;
    begin = end + 1;
  }
  return true;
}

/// Takes variables out of the environment with which the library does harm, or complains in each start.
bool leave_out_nonsense() {
  bool changed = false;
  for (const char* name : {"OMP_STACKSIZE", "GOMP_STACKSIZE"})
    if (const char* value = std::getenv(name)) {
      const std::optional<std::string> fault = stack_size_fault(value);
      if (!fault || unsetenv(name) != 0) continue;
      warn(fmt::format("{} is '{}', {}; it is left out", name, value, *fault));
      changed = true;
    }
  if (const char* value = std::getenv("OMP_NUM_THREADS"); value != nullptr && !is_thread_list(value)) {
    warn(fmt::format("OMP_NUM_THREADS is '{}', allowed a whole number above 0; it is left out", value));
    changed = unsetenv("OMP_NUM_THREADS") == 0 || changed;
  }
  return changed;
}

/// OpenMP's threads spin for a while behind every loop unless told otherwise, and take the processors from
/// the decoder and the encoder (a quarter of the rate on two cores). A user's own setting is left alone.
bool wait_passively() {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return false;
  return setenv("OMP_WAIT_POLICY", "passive", 1) == 0;
}

}  // namespace

std::optional<std::string> stack_size_fault(std::string_view value) {
  const std::optional<std::uint64_t> bytes = size_in_bytes(value);
  if (bytes && *bytes >= kLeastStack && *bytes <= kMostStack) return std::nullopt;
  return "allowed 256K to 1G";
}

void settle_openmp_environment(char** argv) {
  const bool mended = leave_out_nonsense(), passive = wait_passively();
  if (mended || passive) execv("/proc/self/exe", argv);
  // execv returns where there is no /proc: then the program runs on as it is.
}

}  // namespace contorno
