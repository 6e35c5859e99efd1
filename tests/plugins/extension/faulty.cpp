// An extension with the fault that the environment variable EXTENSION_FAULT names.
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

#include "plugins/extension.h"

namespace {

std::string fault() {
  const char* const named = std::getenv("EXTENSION_FAULT");
  return named != nullptr ? named : "";
}

/// Throws while the file is being opened.
struct Licence {
  Licence() {
    if (fault() == "static") throw std::runtime_error("no licence for this\nmachine");
    if (fault() == "static number") throw 42;
  }
};
const Licence licence;

struct None {};

contorno::StageType stage(const std::string& name) {
  return {.name = name,
          .summary = "Does nothing.",
          .inputs = {},
          .outputs = {},
          .params = contorno::declare(contorno::ParamList<None>()),
          .example = "",
          .make_cpu = [](const contorno::ParamSet&) { return std::unique_ptr<contorno::Stage>(); },
          .make_cuda = {}};
}

contorno::Extension extension() {
  const std::string is = fault();
  if (is == "throws") throw std::runtime_error("the model is missing");
  if (is == "throws a number") throw 42;
  if (is == "empty") return {};
  if (is == "null") return {.stages = {nullptr}};
  static contorno::StageType first = stage("first"), second = stage("first");
  if (is == "twice") return {.stages = {&first, &second}};
  static contorno::StageType part = stage("plain");
  const contorno::PartSpec own{.name = "own", .summary = "A part."};
  part.parts = {own};
  if (is == "taken part") part.parts.insert(part.parts.begin(), {.name = "classify", .summary = "A part."});
  if (is == "part of both")
    part.parts.insert(part.parts.begin(), {.name = "marching_squares", .summary = "A part."});
  if (is == "taken part" || is == "part of both" || is == "one part") return {.stages = {&part}};
  static contorno::StageType unmade = stage("unmade");
  unmade.make_cpu = {};
  if (is == "unmade") return {.stages = {&unmade}};
  static contorno::SinkType sink{.name = "jsonl", .summary = "", .params = {}, .example = "", .make = {}};
  sink.make = [](const contorno::ParamSet&) { return std::unique_ptr<contorno::Sink>(); };
  if (is == "taken sink") return {.sinks = {&sink}};
  static contorno::StageType named = stage(is);  // any other: the name of its stage
  return {.stages = {&named}};
}

}  // namespace

CONTORNO_EXTENSION(extension);
