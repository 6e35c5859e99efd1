// The engine opencv: OpenCV's dnn on the CPU, behind the five functions of stages/network/engine.h.
#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/core/version.hpp>
#include <opencv2/dnn.hpp>
#include <stdexcept>
#include <string>

#include "pipeline/shared/module.h"
#include "plugins/dnn/tried.h"
#include "plugins/shared/engine_guard.h"
#include "stages/network/engine.h"

namespace contorno {
namespace {

struct OpencvNet {
  cv::dnn::Net net;
  std::string input, output;
  int threads = 1;
  cv::Mat in;               // has the sides that were planned
  std::size_t numbers = 0;  // of the output
};

/// Calls f, and makes a result of what OpenCV throws.
template <class F>
contorno_engine_result guarded(char* why, const F& f) {
  return guard_engine(why, [&] {
    try {
      f();
    } catch (const cv::Exception& error) {
      if (error.code == cv::Error::StsNoMem) throw std::bad_alloc();
      throw std::runtime_error(error.err);  // its what() begins with places in OpenCV's sources
    }
  });
}

void describe(contorno_engine_facts* facts) {
  const std::span<const contorno_engine_tried> tried = opencv_tried();
  *facts = {.name = "opencv", .version = CV_VERSION, .tried = tried.data(), .tried_count = tried.size()};
}

contorno_engine_result open(const contorno_engine_model* model, void** opened, char* why) {
  return guarded(why, [&] {
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);  // what is wrong is told in `why`
    auto net = std::make_unique<OpencvNet>();
    net->net = cv::dnn::readNetFromONNX(static_cast<const char*>(model->bytes), model->size);
    if (net->net.empty()) CV_Error(cv::Error::StsError, "the model has no layers");
    net->net.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);
    net->net.setPreferableTarget(cv::dnn::DNN_TARGET_CPU);
    net->input = model->input, net->output = model->output;
    net->threads = model->threads;
    *opened = net.release();
  });
}

/// The threads are those of the process; a net sets its own before it computes.
cv::Mat compute(OpencvNet& net) {
  if (cv::getNumThreads() != net.threads) cv::setNumThreads(net.threads);
  net.net.setInput(net.in, net.input);
  return net.net.forward();
}

contorno_engine_result plan(void* planned, const std::int64_t in[4], std::int64_t out[4], char* why) {
  return guarded(why, [&] {
    auto& net = *static_cast<OpencvNet*>(planned);
    int sides[4];
    std::copy_n(in, 4, sides);
    net.in.create(4, sides, CV_32F);
    net.in.setTo(0);
    const cv::Mat result = compute(net);  // takes memory for all layers
    if (result.dims != 4 || result.type() != CV_32F)
      CV_Error(cv::Error::StsError, "its output has not four sides of float32");
    for (int side = 0; side < 4; ++side) out[side] = result.size[side];
    net.numbers = result.total();
  });
}

contorno_engine_result run(void* planned, const float* in, float* out, char* why) {
  return guarded(why, [&] {
    auto& net = *static_cast<OpencvNet*>(planned);
    std::memcpy(net.in.data, in, net.in.total() * sizeof(float));
    const cv::Mat result = compute(net);
    if (result.total() != net.numbers || !result.isContinuous())
      CV_Error(cv::Error::StsError, "its output has changed its size");
    std::memcpy(out, result.data, net.numbers * sizeof(float));
  });
}

void close(void* opened) {
  delete static_cast<OpencvNet*>(opened);
}

constexpr contorno_engine kEngine{CONTORNO_ENGINE_VERSION, describe, open, plan, run, close};

}  // namespace
}  // namespace contorno

CONTORNO_MODULE(contorno::kEngine);
