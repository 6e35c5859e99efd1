#include "tools/text_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "cuda/error.h"

namespace contorno {

std::string read_text_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Error(ExitCode::MissingInput, fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_text_file(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  const bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = file == nullptr || std::fclose(file) == 0;
  if (!written || !closed)
    throw Error(ExitCode::Io, fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

}  // namespace contorno
