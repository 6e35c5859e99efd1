// Reads and writes files that the command line names. Outputs are as safe as those of sinks
// (output_register.h). Errors have the path in their sentence.
#pragma once

#include <string>
#include <string_view>

#include "plugins/files/shared/output_register.h"

namespace contorno {

/// The content of a file. Throws Error(MissingInput) when it cannot be opened.
std::string read_text_file(const std::string& path);
/// The content of a file that a folder has and nobody named: it must be a regular one, as a pipe among them
/// would be waited for without end. Throws Error(BadData) too.
std::string read_regular_file(const std::string& path);

/// Begins the file that the argument `owner` ("--report") names; - is standard output. Unlike a path in a
/// graph it may lie anywhere. A symbolic link is refused like there, unless it leads to a pipe or a device.
/// Throws Error(CannotCreate).
OutputFile open_named_file(OutputRegister& files, const std::string& path, std::string_view owner);
/// Writes a text as the only content of a file, which open_named_file opens. Throws Error(CannotCreate, Io).
void write_text_file(const std::string& path, const std::string& text);

/// The register of a command, which says on standard error what killed runs left behind.
OutputRegister command_files();
/// Says on standard error which files that were there before the command has replaced.
void say_replaced(const OutputRegister& files);

}  // namespace contorno
