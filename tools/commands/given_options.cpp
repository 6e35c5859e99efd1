#include "tools/commands/given_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/error.h"

namespace contorno {

GivenOptions given_options(const CLI::App& command) {
  GivenOptions given;
  for (const CLI::Option* option : command.get_options())
    if (option->count() > 0 && !option->get_lnames().empty())
      given.push_back("--" + option->get_lnames().front());
  return given;
}

bool is_given(const GivenOptions& given, std::string_view name) {
  return std::find(given.begin(), given.end(), name) != given.end();
}

void refuse_all_but(const GivenOptions& given, const std::vector<std::string_view>& allowed,
                    const std::function<std::string(const std::string& names)>& sentence) {
  GivenOptions refused;
  std::copy_if(given.begin(), given.end(), std::back_inserter(refused), [&](const std::string& name) {
    return std::find(allowed.begin(), allowed.end(), name) == allowed.end();
  });
  if (!refused.empty()) throw Error(ExitCode::Usage, sentence(fmt::format("{}", fmt::join(refused, ", "))));
}

void check_goes_with(const GivenOptions& given, std::string_view name, bool is_there, std::string_view what) {
  if (!is_there && is_given(given, name))
    throw Error(ExitCode::Usage, fmt::format("{} goes with {}", name, what));
}

}  // namespace contorno
