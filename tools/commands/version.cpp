#include "tools/commands/version.h"

#include <fmt/format.h>

#include "tools/commit.h"

namespace contorno {

std::string version_text() {
  const std::string commit = build_commit();
#ifdef CONTORNO_HAVE_CUDA
  constexpr std::string_view kBackends = "cpu (OpenMP), cuda";
#else
  constexpr std::string_view kBackends = "cpu (OpenMP)";
#endif
  return fmt::format(
      "contorno {}\n"
      "commit: {}\n"
      "backends: {}\n"
      "CUDA: {}\n"
      "libraries: {}",
      CONTORNO_VERSION, commit.empty() ? "unknown" : fmt::format("{} of {}", commit, build_date()), kBackends,
      CONTORNO_CUDA_BUILD, CONTORNO_LIBRARIES);
}

}  // namespace contorno
