#include "tools/commit.h"

#include "contorno_commit.h"

namespace contorno {

const char* build_commit() {
  return CONTORNO_COMMIT;
}

const char* build_date() {
  return CONTORNO_COMMIT_DATE;
}

}  // namespace contorno
