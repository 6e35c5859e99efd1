#include "tools/commands/number_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>

#include "base/error.h"
#include "config/numbers.h"
#include "pipeline/shared/threads.h"

namespace contorno {
namespace {

ParamSpec number_spec(ParamKind kind, double least, double most) {
  ParamSpec spec;
  spec.kind = kind;
  spec.minimum = least, spec.maximum = most;
  return spec;
}

/// The number that `text` says, if it lies in the range of `spec`.
template <class T>
T in_range(const std::string& name, const std::string& text, std::optional<T> number, const ParamSpec& spec) {
  if (!number || static_cast<double>(*number) < spec.minimum || static_cast<double>(*number) > spec.maximum)
    throw Error(ExitCode::Usage, fmt::format("{} is {}, allowed {}", name, text, spec.allowed()));
  return *number;
}

/// `Value` is a double, or one that may be missing.
template <class Value>
CLI::Option* add_checked_number(CLI::App& command, const std::string& name, Value& value,
                                const ParamSpec& spec, const std::string& sentence) {
  return command
      .add_option_function<std::string>(
          name,
          [name, spec, &value](const std::string& text) {
            value = in_range(name, text, config::parse_number(text), spec);
          },
          sentence)
      ->type_name("NUMBER");
}

}  // namespace

void add_whole_number(CLI::App& command, const std::string& name, std::int64_t least, std::int64_t most,
                      const std::string& sentence, std::function<void(std::int64_t)> set,
                      const std::string& default_text) {
  const ParamSpec spec =
      number_spec(ParamKind::Integer, static_cast<double>(least), static_cast<double>(most));
  command
      .add_option_function<std::string>(
          name,
          [name, spec, set = std::move(set)](const std::string& text) {
            set(in_range(name, text, config::whole_number(text), spec));
          },
          sentence)
      ->type_name("INT")
      ->default_str(default_text);
}

void add_number(CLI::App& command, const std::string& name, double& value, double least, double most,
                const std::string& sentence) {
  add_checked_number(command, name, value, number_spec(ParamKind::Number, least, most), sentence)
      ->default_str(fmt::format("{}", value));
}

void add_number(CLI::App& command, const std::string& name, std::optional<double>& value,
                const std::string& sentence) {
  add_checked_number(command, name, value, number_spec(ParamKind::Number, -kAnyNumber, kAnyNumber), sentence);
}

void add_numbers(CLI::App& command, const std::string& name, std::vector<double>& values,
                 const std::string& sentence) {
  const ParamSpec spec = number_spec(ParamKind::Number, -kAnyNumber, kAnyNumber);
  command
      .add_option_function<std::vector<std::string>>(
          name,
          [name, spec, &values](const std::vector<std::string>& texts) {
            for (const std::string& text : texts)
              values.push_back(in_range(name, text, config::parse_number(text), spec));
          },
          sentence)
      ->type_name("NUMBER")
      ->expected(1)
      ->take_all();
}

void add_threads(CLI::App& command, int& threads) {
  add_whole_number(command, "--threads", 0, kMostThreads, "Threads; 0 = as many as the machine has",
                   [&threads](std::int64_t number) { threads = static_cast<int>(number); });
}

}  // namespace contorno
