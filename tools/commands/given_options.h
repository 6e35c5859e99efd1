// Which options a command line gives, so that those without any effect are refused instead of ignored.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace contorno {

/// Long names, "--fps", in the order in which the command declares them.
using GivenOptions = std::vector<std::string>;
GivenOptions given_options(const CLI::App& command);

bool is_given(const GivenOptions& given, std::string_view name);
/// Throws Error(Usage) where one that is not in `allowed` is given: `sentence` gets their names, "--fps,
/// --seed".
void refuse_all_but(const GivenOptions& given, const std::vector<std::string_view>& allowed,
                    const std::function<std::string(const std::string& names)>& sentence);
/// Throws Error(Usage) "NAME goes with WHAT" where the option is given, but what it needs is not there.
void check_goes_with(const GivenOptions& given, std::string_view name, bool is_there, std::string_view what);

}  // namespace contorno
