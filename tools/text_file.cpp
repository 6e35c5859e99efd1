#include "tools/text_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "plugins/files/shared/open_file.h"
#include "tools/say.h"

namespace contorno {
namespace {

/// True for another name of standard output: those that the system gives it, wherever it goes, and of a pipe
/// or a terminal any.
bool is_standard_output(const std::string& path) {
  for (const char* name : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})
    if (path == name) return true;
  struct stat named {
  }, output{};
  return ::stat(path.c_str(), &named) == 0 && !S_ISREG(named.st_mode) &&
         ::fstat(STDOUT_FILENO, &output) == 0 && named.st_dev == output.st_dev &&
         named.st_ino == output.st_ino;
}

/// Whether a path is a link to a pipe, a terminal or a device, where nothing is that writing could destroy:
/// as /dev/fd/63, which a shell makes of >(command).
bool leads_to_special(const std::string& path) {
  struct stat itself {
  }, target{};
  return ::lstat(path.c_str(), &itself) == 0 && S_ISLNK(itself.st_mode) &&
         ::stat(path.c_str(), &target) == 0 && (S_ISFIFO(target.st_mode) || S_ISCHR(target.st_mode));
}

}  // namespace

std::string read_text_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Error(ExitCode::MissingInput, fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string read_regular_file(const std::string& path) {
  const OpenFile tried(path);  // refuses what is none
  return read_text_file(path);
}

OutputFile open_named_file(OutputRegister& files, const std::string& path, std::string_view owner) {
  if (path == "-" || is_standard_output(path)) return OutputFile::standard_output();
  return leads_to_special(path) ? OutputFile::special(path) : files.open(path, owner);
}

void write_text_file(const std::string& path, const std::string& text) {
  OutputRegister files = command_files();
  OutputFile file = open_named_file(files, path, "the output");
  file.write(text);
  file.complete();
}

OutputRegister command_files() {
  return OutputRegister([](const std::string& sentence) { say(sentence); },
                        [](const LogEvent& event) { tell(event); });
}

void say_replaced(const OutputRegister& files) {
  if (const std::string replaced = files.replaced(); !replaced.empty()) say("replaced " + replaced);
}

}  // namespace contorno
