// What a file is that is no array, picture, video or graph which contorno reads, told by its first bytes.
#pragma once

#include <string>
#include <string_view>

namespace contorno {

/// How many bytes it looks at, at most.
inline constexpr std::size_t kFormatStartBytes = 4096;

/// The rest of a sentence that begins with the file's name, without a full stop: "is a MATLAB file, ...".
/// Empty where it is nothing that is known. `name` is the file's; `start` its first bytes.
std::string other_format(std::string_view start, std::string_view name);

}  // namespace contorno
