#include "tools/text_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "cuda/error.h"
#include "tools/say.h"

namespace contorno {
namespace fs = std::filesystem;
namespace {

/// True for another name of standard output (/dev/stdout) where that is a pipe or a terminal.
bool is_standard_output(const std::string& path) {
  struct stat named {
  }, output{};
  return ::stat(path.c_str(), &named) == 0 && !S_ISREG(named.st_mode) &&
         ::fstat(STDOUT_FILENO, &output) == 0 && named.st_dev == output.st_dev &&
         named.st_ino == output.st_ino;
}

}  // namespace

std::string read_text_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Error(ExitCode::MissingInput, fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  return {std::istreambuf_iterator<char>(file), {}};
}

OutputFile open_named_file(OutputRegister& files, const std::string& path, std::string_view owner) {
  if (path == "-" || is_standard_output(path)) return OutputFile::standard_output();
  std::error_code error;
  fs::path target = path;
  if (fs::is_symlink(fs::symlink_status(path, error))) target = fs::weakly_canonical(path, error);
  return files.open(error ? fs::path(path) : target, owner);
}

void write_text_file(const std::string& path, const std::string& text) {
  OutputRegister files = command_files();
  OutputFile file = open_named_file(files, path, "the output");
  file.write(text);
  file.complete();
}

OutputRegister command_files() {
  return OutputRegister([](const std::string& sentence) { say(sentence); });
}

void say_replaced(const OutputRegister& files) {
  if (const std::string replaced = files.replaced(); !replaced.empty()) say("replaced " + replaced);
}

}  // namespace contorno
