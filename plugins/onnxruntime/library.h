// ONNX Runtime's library, which is opened by its name when it is first needed.
#pragma once

#include <onnxruntime_c_api.h>

namespace contorno {

/// What ONNX Runtime has given; all of it is its own, lasts as long as the process, and is never released.
struct OnnxruntimeLibrary {
  const char* version = nullptr;  ///< "1.21.0"
  const OrtApi* api = nullptr;
  OrtEnv* environment = nullptr;  ///< one for the process; stays open
};

/// Opens libonnxruntime.so.1, or the name that Debian gives the version of the header; a call after one that
/// failed tries again. Throws Error(Unavailable), with the remedy, where it is absent, does not start, or is
/// older than kOldestOnnxruntime. Safe from any thread.
const OnnxruntimeLibrary& onnxruntime_library();

/// The ORT_API_VERSION that is asked for, which is the N of ONNX Runtime 1.N: later versions have it, too.
/// The docs name it (docs/reference/network.md).
inline constexpr int kOldestOnnxruntime = 16;
static_assert(ORT_API_VERSION >= kOldestOnnxruntime);

}  // namespace contorno
