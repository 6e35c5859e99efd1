// Opening the file of an extension, whatever it is.
#pragma once

#include <string>
#include <string_view>

namespace contorno {

/// Throws Error(Unavailable): "PATH cannot be loaded: REASON".
[[noreturn]] void refuse_extension(const std::string& path, std::string_view reason);

/// What is being thrown, in the words of a std::exception; called in a handler.
std::string what_is_thrown();

/// Opens a library for good; the handle is the same for every path of a file. Its names come from the
/// libcontorno of this process, whatever it is called here. Throws Error(Usage) for a path that is not
/// absolute, else as refuse_extension. Not from two threads at a time.
void* open_extension_file(const std::string& path);

}  // namespace contorno
