#include "plugins/onnxruntime/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <string>

#include "base/error.h"

namespace contorno {
namespace {

/// Debian's library has the minor version in its name, that of PyPI's packages has not.
std::array<std::string, 2> names() {
  return {"libonnxruntime.so.1", fmt::format("libonnxruntime.so.1.{}", ORT_API_VERSION)};
}

[[noreturn]] void lack(const std::string& what) {
  throw Error(ExitCode::Unavailable,
              fmt::format("network: engine is onnxruntime, and {}; install ONNX Runtime 1.{} or later "
                          "(apt-get install libonnxruntime1.{}), or take engine: opencv",
                          what, kOldestOnnxruntime, ORT_API_VERSION));
}

void* open_library() {
  std::string reason;
  for (const std::string& name : names()) {
    if (void* const opened = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return opened;
    const char* const said = dlerror();
    reason = said != nullptr ? said : "no reason given";
  }
  lack(fmt::format("neither {} nor {} can be opened ({})", names()[0], names()[1], reason));
}

OnnxruntimeLibrary load() {
  using GetBase = const OrtApiBase* (*)();
  const auto get_base = reinterpret_cast<GetBase>(dlsym(open_library(), "OrtGetApiBase"));
  if (get_base == nullptr) lack("the library of that name has no OrtGetApiBase");
  const OrtApiBase& base = *get_base();
  OnnxruntimeLibrary library{.version = base.GetVersionString(), .api = base.GetApi(kOldestOnnxruntime)};
  if (library.api == nullptr) lack(fmt::format("version {} is installed", library.version));
  // What is wrong is told in results, not on stderr.
  OrtStatus* const failed = library.api->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "contorno", &library.environment);
  if (failed != nullptr) {
    const std::string why = library.api->GetErrorMessage(failed);
    library.api->ReleaseStatus(failed);
    lack("version " + std::string(library.version) + " does not start: " + why);
  }
  return library;
}

}  // namespace

const OnnxruntimeLibrary& onnxruntime_library() {
  static const OnnxruntimeLibrary library = load();  // again after one that threw
  return library;
}

}  // namespace contorno
