// Files that the command line names: whole text files that are read, and outputs, which are as safe as those
// of sinks. Errors name them.
#pragma once

#include <string>
#include <string_view>

#include "plugins/files/shared/output_register.h"

namespace contorno {

/// Throws Error(MissingInput).
std::string read_text_file(const std::string& path);

/// Begins the file that the argument `owner` ("--report") names; - is standard output. Unlike a path in a
/// graph it may be a symbolic link and lie anywhere. Throws Error(CannotCreate).
OutputFile open_named_file(OutputRegister& files, const std::string& path, std::string_view owner);
/// Writes a text as the file's only content. Throws Error(CannotCreate, Io).
void write_text_file(const std::string& path, const std::string& text);

/// The register of a command, which says on standard error what killed runs left behind.
OutputRegister command_files();
/// Says on standard error which files that were there before the command has replaced.
void say_replaced(const OutputRegister& files);

}  // namespace contorno
