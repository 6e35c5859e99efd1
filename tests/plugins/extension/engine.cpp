// An engine that a test loads: its output is its input, whatever the model says. It says what it was asked,
// and fails for an input whose first number is 1.
#include <cstdio>
#include <cstring>
#include <new>

#include "stages/network/engine.h"

#ifndef ENGINE_VERSION
#define ENGINE_VERSION CONTORNO_ENGINE_VERSION
#endif

namespace {

struct EchoNet {
  std::size_t numbers = 0;
};

constexpr contorno_engine_tried kEchoTried[] = {{"Softmax", "", 9, 21, nullptr},
                                                {"Conv", nullptr, 9, 21, nullptr},
                                                {"Relu", "", 9, 21, "it echoes; take another engine"}};

void describe_echo(contorno_engine_facts* facts) {
  *facts = {.name = "echo", .version = "7", .tried = kEchoTried, .tried_count = 3};
}

contorno_engine_result open_echo(const contorno_engine_model* model, void** net, char* why) {
  if (std::strcmp(model->input, "image") != 0) {
    std::snprintf(why, CONTORNO_ENGINE_WHY, "the input is called %s", model->input);
    return CONTORNO_ENGINE_FAILED;
  }
  *net = new (std::nothrow) EchoNet;
  return *net != nullptr ? CONTORNO_ENGINE_OK : CONTORNO_ENGINE_NO_MEMORY;
}

contorno_engine_result plan_echo(void* net, const int64_t in[4], int64_t out[4], char*) {
  auto& echo = *static_cast<EchoNet*>(net);
  echo.numbers = 1;
  for (int side = 0; side < 4; ++side)
    out[side] = in[side], echo.numbers *= static_cast<std::size_t>(in[side]);
  return CONTORNO_ENGINE_OK;
}

contorno_engine_result run_echo(void* net, const float* in, float* out, char* why) {
  if (in[0] == 1.0F) {
    std::snprintf(why, CONTORNO_ENGINE_WHY, "the first number is 1");
    return CONTORNO_ENGINE_FAILED;
  }
  std::memcpy(out, in, static_cast<EchoNet*>(net)->numbers * sizeof(float));
  return CONTORNO_ENGINE_OK;
}

void close_echo(void* net) {
  delete static_cast<EchoNet*>(net);
}

constexpr contorno_engine kEcho{.version = ENGINE_VERSION,
                                .describe = describe_echo,
                                .open = open_echo,
                                .plan = plan_echo,
                                .run = run_echo,
                                .close = close_echo};

}  // namespace

CONTORNO_ENGINE(kEcho);
