#include "tools/transient_folder.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "pipeline/shared/printable.h"

namespace contorno {

TransientFolder::TransientFolder(std::string_view purpose) {
  path_ = (std::filesystem::temp_directory_path() / fmt::format("contorno-{}-XXXXXX", purpose)).string();
  if (mkdtemp(path_.data()) == nullptr)
    throw Error(ExitCode::CannotCreate,
                fmt::format("cannot create a folder like '{}': {}", printable(path_), std::strerror(errno)));
}

TransientFolder::~TransientFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace contorno
