// Options of the command line that take a number. They are read by the code that reads numbers in graphs,
// with the same messages: 1000 and 1e3 are the same.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/graph/param.h"

namespace CLI {
class App;
}

namespace contorno {

/// Adds the option `name`. `set` is called with the number when the option is given; `sentence` is the help;
/// `most` is kUnbounded where there is no limit. Throws Error(Usage) while the command line is parsed:
/// "--every is 0, allowed a whole number, at least 1".
void add_whole_number(CLI::App& command, const std::string& name, std::int64_t least, std::int64_t most,
                      const std::string& sentence, std::function<void(std::int64_t)> set,
                      const std::string& default_text = "");

/// add_whole_number for a variable, whose value is the default that the help shows. The variable must outlive
/// the command, and `most` fit into its type.
template <class I>
void add_whole_number(CLI::App& command, const std::string& name, I& value, std::int64_t least,
                      std::int64_t most, const std::string& sentence) {
  add_whole_number(
      command, name, least, most, sentence, [&value](std::int64_t number) { value = static_cast<I>(number); },
      std::to_string(value));
}

inline constexpr double kAnyNumber = std::numeric_limits<double>::max();
/// Adds an option for any number from `least` to `most`, both allowed; infinities and NaN are refused.
void add_number(CLI::App& command, const std::string& name, double& value, double least, double most,
                const std::string& sentence);

/// Any finite number, for a variable without a default: whether it is allowed is told where it is used.
void add_number(CLI::App& command, const std::string& name, std::optional<double>& value,
                const std::string& sentence);

/// Adds such an option that may come again: each time a number is added.
void add_numbers(CLI::App& command, const std::string& name, std::vector<double>& values,
                 const std::string& sentence);

/// --threads, the same in every command that has it.
void add_threads(CLI::App& command, int& threads);

}  // namespace contorno
