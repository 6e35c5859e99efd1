#include "pipeline/graph/param.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "pipeline/graph/graph.h"

using namespace contorno;

TEST_CASE("a parameter out of range says what was given and what is allowed") {
  ParamSet params(pipeline_params());
  CHECK_THROWS_WITH_AS(params.set("slots", std::int64_t{99}),
                       "slots is 99, allowed a whole number, 1 to 64 frames", Error);
  CHECK(params.as<PipelineSettings>().slots == PipelineSettings().slots);
}

TEST_CASE("bounds are written without exponent, and those that nobody meets not at all") {
  struct Params {
    double value = 1;
  };
  const auto allowed = [](double least, double most) {
    ParamList<Params> list;
    list.number("value", &Params::value, least, most, Unit::None, "A value.");
    const ParamDeclaration declaration = declare(std::move(list));
    return declaration.find("value")->allowed();
  };
  CHECK(allowed(0.25, 1e12) == "0.25 to 1000000000000");
  CHECK(allowed(-1e15, 3) == "-1000000000000000 to 3");
  CHECK(allowed(1e-9, 2e20) == "at least 1e-09");
  CHECK(allowed(-2e20, 3) == "at most 3");
  CHECK(allowed(-2e20, 2e20) == "any number");
}

TEST_CASE("an unknown parameter names the nearest one") {
  ParamSet params(pipeline_params());
  CHECK_THROWS_WITH_AS(params.set("slot", std::int64_t{2}), "unknown key 'slot' (did you mean 'slots'?)",
                       Error);
}

TEST_CASE("the nearest word is one edit away in three letters, and no other word") {
  const std::vector<std::string> words{"cpu", "cuda", "marching_squares", "morphology", "overlay"};
  CHECK(nearest("marching_sqares", words) == "marching_squares");
  CHECK(nearest("marhcing_squares", words) == "marching_squares");
  CHECK(nearest("overlax", words) == "overlay");
  CHECK(nearest("ovrely", words) == "overlay");
  CHECK(nearest("orelxx", words).empty());
  CHECK(nearest("gpu", words).empty());
  CHECK(nearest("pcu", words) == "cpu");
  CHECK(nearest("mean_shift", words).empty());
  CHECK(nearest("x", words).empty());
  CHECK(nearest("", words).empty());
}

TEST_CASE("copies of a parameter set do not share values") {
  ParamSet one(pipeline_params());
  ParamSet two(one);
  two.set("backend", std::string("cpu"));
  CHECK(one.as<PipelineSettings>().backend == Backend::Auto);
  CHECK(two.as<PipelineSettings>().backend == Backend::Cpu);
  CHECK(to_text(two.get("backend")) == "cpu");
}

TEST_CASE("a backend may name its device, and is the same word again") {
  ParamSet settings(pipeline_params());
  const auto request_of = [&](const char* word) {
    settings.set("backend", std::string(word));
    CHECK(to_text(settings.get("backend")) == word);
    return settings.as<PipelineSettings>().backend;
  };
  CHECK(request_of("auto") == Backend::Auto);
  CHECK(request_of("cpu") == Backend::Cpu);
  CHECK(request_of("cuda") == BackendRequest(Backend::Cuda, BackendRequest::kUnnamed));
  CHECK(request_of("cuda:0") == BackendRequest(Backend::Cuda, 0));
  CHECK(request_of("cuda:12") == BackendRequest(Backend::Cuda, 12));
  CHECK(request_of("cuda:999") == BackendRequest(Backend::Cuda, 999));
  CHECK(request_of("cuda:all") == BackendRequest(Backend::Cuda, BackendRequest::kAll));
  for (const char* word :
       {"cuda:", "cuda:x", "cuda:N", "cuda:-1", "cuda:01", "cuda:1000", "cuda: 1", "cuda:1 ", "cuda:1.5",
        "cuda:0x1", "cpu:1", "auto:1", "CUDA:1", "cuda:All", ":1", ""}) {
    CAPTURE(word);
    CHECK_THROWS_WITH_AS(settings.set("backend", std::string(word)),
                         ("backend is " + std::string(word) +
                          ", allowed one of auto, cpu, cuda, cuda:all, cuda:N (N is a number from 0)")
                             .c_str(),
                         Error);
  }
}

TEST_CASE("colours are read and written as hexadecimal") {
  CHECK(parse_colour("#0180ff") == Colour{1, 128, 255, 255});
  CHECK(to_text(parse_colour("#0180ff40")) == "#0180ff40");
  CHECK_THROWS_AS(parse_colour("red"), Error);
  CHECK_THROWS_AS(parse_colour("00180ff"), Error);
  CHECK_THROWS_AS(parse_colour("00180ff40"), Error);
  CHECK_THROWS_AS(parse_colour("#12345g"), Error);
}
