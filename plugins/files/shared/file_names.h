// What names of files tell: their order in a folder, and which of them are pictures. Pure functions.
#pragma once

#include <filesystem>
#include <string_view>

namespace contorno {

/// Digits compare by value: map2 comes before map10.
bool natural_less(std::string_view a, std::string_view b);

/// ".PNG" of "shot.PNG" becomes ".png": what a file's name says it is, in lower case whatever the locale.
std::string lower_extension(const std::filesystem::path& file);

/// Whether a file's name says that it is a picture of some kind.
bool has_picture_extension(const std::filesystem::path& file);

}  // namespace contorno
