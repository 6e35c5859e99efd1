// ONNX Runtime's library, which is opened by its name when it is first needed.
#pragma once

#include <onnxruntime_c_api.h>

namespace contorno {

struct OnnxruntimeLibrary {
  const char* version = nullptr;  ///< "1.21.0"
  const OrtApi* api = nullptr;
  OrtEnv* environment = nullptr;  ///< one for the process; stays open
};

/// Opens the library once. Throws Error(Unavailable), with the remedy, where it is absent or older than
/// kOldestOnnxruntime. Safe from any thread.
const OnnxruntimeLibrary& onnxruntime_library();

/// The version of the interface that is asked for: that of ONNX Runtime 1.16, which later ones have, too.
inline constexpr int kOldestOnnxruntime = 16;
static_assert(ORT_API_VERSION >= kOldestOnnxruntime);

}  // namespace contorno
