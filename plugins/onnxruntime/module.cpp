// The engine onnxruntime: ONNX Runtime on the CPU, through its C interface, behind the five functions of
// stages/network/engine.h.
#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <vector>

#include "pipeline/shared/module.h"
#include "plugins/onnxruntime/library.h"
#include "plugins/onnxruntime/table.h"
#include "plugins/onnxruntime/tried.h"
#include "plugins/shared/engine_guard.h"

namespace contorno {
namespace {

const OrtApi& api() {
  return *onnxruntime_library().api;
}

/// Throws what a call answered, if it failed.
void check(OrtStatus* status) {
  if (status == nullptr) return;
  const std::string why = api().GetErrorMessage(status);
  api().ReleaseStatus(status);
  // There is no code for it.
  if (why.find("Failed to allocate memory") != std::string::npos ||
      why.find("bad_alloc") != std::string::npos)
    throw std::bad_alloc();
  throw std::runtime_error(why);
}

template <class T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

struct OnnxruntimeNet {
  explicit OnnxruntimeNet(const contorno_engine_model& model)
      : input(model.input),
        output(model.output),
        session(nullptr, api().ReleaseSession),
        memory(nullptr, api().ReleaseMemoryInfo) {
    OrtMemoryInfo* host = nullptr;
    check(api().CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &host));
    memory.reset(host);
  }

  std::string input, output;
  Owned<OrtSession> session;
  Owned<OrtMemoryInfo> memory;
  std::array<std::int64_t, 4> in{}, out{};  // sides that were planned
};

/// Threads that wait do so without using the processor: other cameras need it.
Owned<OrtSessionOptions> options_of(const contorno_engine_model& model) {
  OrtSessionOptions* made = nullptr;
  check(api().CreateSessionOptions(&made));
  Owned<OrtSessionOptions> options(made, api().ReleaseSessionOptions);
  check(api().SetIntraOpNumThreads(made, model.threads));
  check(api().SetInterOpNumThreads(made, 1));
  check(api().SetSessionExecutionMode(made, ORT_SEQUENTIAL));
  check(api().AddSessionConfigEntry(made, "session.intra_op.allow_spinning", "0"));
  return options;
}

std::size_t count_of(const std::array<std::int64_t, 4>& sides) {
  std::size_t count = 1;
  for (const std::int64_t side : sides) count *= static_cast<std::size_t>(side);
  return count;
}

/// A tensor of the caller's memory.
Owned<OrtValue> tensor_of(const OnnxruntimeNet& net, float* numbers,
                          const std::array<std::int64_t, 4>& sides) {
  OrtValue* made = nullptr;
  check(api().CreateTensorWithDataAsOrtValue(net.memory.get(), numbers, count_of(sides) * sizeof(float),
                                             sides.data(), sides.size(), ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT,
                                             &made));
  return {made, api().ReleaseValue};
}

/// Computes a tensor into `out`; where that is null, into memory of ONNX Runtime's, and `out` becomes it.
void compute(OnnxruntimeNet& net, const OrtValue* in, OrtValue** out) {
  const char *const input = net.input.c_str(), *const output = net.output.c_str();
  check(api().Run(net.session.get(), nullptr, &input, &in, 1, &output, 1, out));
}

void read_sides(const OrtValue* value, std::array<std::int64_t, 4>& sides) {
  OrtTensorTypeAndShapeInfo* made = nullptr;
  check(api().GetTensorTypeAndShape(value, &made));
  const Owned<OrtTensorTypeAndShapeInfo> info(made, api().ReleaseTensorTypeAndShapeInfo);
  std::size_t count = 0;
  ONNXTensorElementDataType type{};
  check(api().GetDimensionsCount(made, &count));
  check(api().GetTensorElementType(made, &type));
  if (count != sides.size() || type != ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT)
    throw std::runtime_error("its output has not four sides of float32");
  check(api().GetDimensions(made, sides.data(), count));
}

void describe(contorno_engine_facts* facts) {
  const std::span<const contorno_engine_tried> tried = onnxruntime_tried();
  *facts = {.name = "onnxruntime",
            .version = onnxruntime_library().version,
            .tried = tried.data(),
            .tried_count = tried.size()};
}

/// Until the end of the scope nothing is seen of what is written to the error stream of C++, to which
/// contorno itself does not write.
class QuietErrors {
 public:
  QuietErrors() : before_(std::cerr.rdbuf(nullptr)) {}
  ~QuietErrors() { std::cerr.rdbuf(before_); }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  std::streambuf* before_;
};

/// Calls `make`, which makes a session. With the first one Debian's build registers each operator a second
/// time, and says so in a thousand lines.
template <class F>
void make_session(const F& make) {
  static std::mutex mutex;
  static bool registered = false;
  std::unique_lock lock(mutex);
  if (registered) {
    lock.unlock();
    return make();
  }
  const QuietErrors quiet;
  make();
  registered = true;
}

contorno_engine_result open(const contorno_engine_model* model, void** opened, char* why) {
  return guard_engine(why, [&] {
    auto net = std::make_unique<OnnxruntimeNet>(*model);
    const Owned<OrtSessionOptions> options = options_of(*model);
    OrtSession* session = nullptr;
    make_session([&] {
      check(api().CreateSessionFromArray(onnxruntime_library().environment, model->bytes, model->size,
                                         options.get(), &session));
    });
    net->session.reset(session);
    *opened = net.release();
  });
}

contorno_engine_result plan(void* planned, const std::int64_t in[4], std::int64_t out[4], char* why) {
  return guard_engine(why, [&] {
    auto& net = *static_cast<OnnxruntimeNet*>(planned);
    std::copy_n(in, 4, net.in.begin());
    std::vector<float> nothing(count_of(net.in));
    const Owned<OrtValue> given = tensor_of(net, nothing.data(), net.in);
    OrtValue* made = nullptr;
    compute(net, given.get(), &made);  // takes memory for all layers
    const Owned<OrtValue> result(made, api().ReleaseValue);
    read_sides(made, net.out);
    std::ranges::copy(net.out, out);
  });
}

contorno_engine_result run(void* planned, const float* in, float* out, char* why) {
  return guard_engine(why, [&] {
    auto& net = *static_cast<OnnxruntimeNet*>(planned);
    // Inputs are not written to; the interface has no word for that.
    const Owned<OrtValue> given = tensor_of(net, const_cast<float*>(in), net.in);
    const Owned<OrtValue> result = tensor_of(net, out, net.out);
    OrtValue* into = result.get();
    compute(net, given.get(), &into);
  });
}

void close(void* opened) {
  delete static_cast<OnnxruntimeNet*>(opened);
}

constexpr contorno_engine kEngine{CONTORNO_ENGINE_VERSION, describe, open, plan, run, close};

const contorno_engine& engine() {
  onnxruntime_library();
  return kEngine;
}

constexpr OnnxruntimeTable kTable{.engine = engine};

}  // namespace
}  // namespace contorno

CONTORNO_MODULE(contorno::kTable);
