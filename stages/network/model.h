// The file of a model: read once for all slots of a run, looked through, and compared with what an engine
// computes right. Kept in memory as long as somebody holds it, so that a file that is replaced does not
// change a run.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "stages/network/engine.h"
#include "stages/network/onnx.h"

namespace contorno {

/// The largest file of a model.
inline constexpr std::uint64_t kMaxModelBytes = std::uint64_t{512} << 20;

/// An input with the output that a model is to give for it, float32, dense, four sides.
struct NetworkCheck {
  std::vector<std::int64_t> in_sides, out_sides;
  std::vector<float> input, output;
  double tolerance = 1e-4;  ///< the most that a number of the output may be off
};
/// Reads the file of a check, where there is one; throws Error.
using ReadNetworkCheck = std::function<std::optional<NetworkCheck>(const std::string& path)>;

struct LoadedModel {
  std::string path, bytes, sha256;
  OnnxModel onnx;
  /// Frames that have failed one after the other, of all slots.
  std::atomic<int> failed_in_a_row = 0;
  std::mutex mutex;
  std::vector<std::string> tested;  ///< what has passed its self-test: engine and sides; guarded by `mutex`
};

/// "model 'net.onnx'", for messages.
std::string model_name(const std::string& path);

/// The model in a file, or the one that is in memory already if the file is still the same. Throws
/// Error(MissingInput), Error(Io), Error(BadConfig) for what is no model or too large. Safe from any thread.
std::shared_ptr<LoadedModel> load_model(const std::string& path);

/// "net.check.npz" for "net.onnx".
std::string check_file_of(const std::string& model_path);

/// Refuses, with Error(BadConfig), a model that the engine does not compute, or computes wrong in silence, as
/// far as that can be told from the file: the sentence names the node and the remedy.
void check_model(const LoadedModel& model, const contorno_engine_facts& engine);

}  // namespace contorno
