#include "tests/source_folder.h"

namespace contorno::test {

std::filesystem::path source_folder() {
  return CONTORNO_SOURCE_DIR;
}

}  // namespace contorno::test
