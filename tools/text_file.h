// Whole text files, read and written with errors that name them.
#pragma once

#include <string>

namespace contorno {

/// Throws Error(MissingInput).
std::string read_text_file(const std::string& path);
/// Throws Error(Io). Writes in place: the file may be a device or a pipe.
void write_text_file(const std::string& path, const std::string& text);

}  // namespace contorno
