#include "tools/say.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "base/error.h"

namespace contorno {
namespace {

[[noreturn]] void fail() {
  throw Error(ExitCode::Io, fmt::format("standard output cannot be written: {}",
                                        errno == EBADF ? "it is closed" : std::strerror(errno)));
}

void write_message(std::string_view line) {
  // Where a message cannot go there is nobody to be told.
  static_cast<void>(std::fwrite(line.data(), 1, line.size(), stderr));
}

}  // namespace

void say(std::string_view sentence) {
  if (!sentence.empty()) write_message(fmt::format("contorno: {}\n", printable_sentence(sentence)));
}

void warn(std::string_view sentence) {
  if (!sentence.empty()) write_message(fmt::format("contorno: warning: {}\n", printable_sentence(sentence)));
}

void say_lines(std::string_view lines) {
  write_message(fmt::format("contorno: {}\n", printable_lines(lines)));
}

void say_out_of_memory() {
  write_message("contorno: out of memory\n");
}

void show_progress(std::string_view text) {
  write_message(text);
  std::fflush(stderr);
}

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) fail();
}

void finish_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout.flush()) fail();
}

void fill_standard_streams() {
  // Open for reading only: to write into standard output must fail, not seem to succeed.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0) _exit(static_cast<int>(ExitCode::Io));
}

}  // namespace contorno
