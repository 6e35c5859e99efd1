// Where the sources are, for tests that read files of them.
#pragma once

#include <filesystem>

namespace contorno::test {

/// The folder that has `tests` and `docs`, as the build was told.
std::filesystem::path source_folder();

}  // namespace contorno::test
