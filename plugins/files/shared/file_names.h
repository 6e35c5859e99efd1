// What names of files tell: their order in a folder, and which of them are pictures. Pure functions.
#pragma once

#include <filesystem>
#include <string_view>

namespace contorno {

/// Whether `a` comes before `b` in natural order, in which digits compare by value: map2 before map10.
bool natural_less(std::string_view a, std::string_view b);

/// The extension in lower case, whatever the locale: ".png" of "shot.PNG".
std::string lower_extension(const std::filesystem::path& file);

/// Whether a file's name says that it is a picture of some kind, be it one that is refused by its name.
bool has_picture_extension(const std::filesystem::path& file);

}  // namespace contorno
