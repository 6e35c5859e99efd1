// The names of enumerations, as tables and files have them.
#include "tools/latency/report.h"

namespace contorno::latency {

const char* name_of(Mode mode) {
  switch (mode) {
    case Mode::Stream:
      return "stream";
    case Mode::Single:
      return "single";
    case Mode::Saturate:
      return "saturate";
    case Mode::Cameras:
      return "cameras";
    case Mode::Pipeline:
      break;
  }
  return "pipeline";
}

const char* name_of(Loop loop) {
  return loop == Loop::Open ? "open" : "closed";
}

const char* name_of(Until until) {
  return until == Until::Result ? "result" : "sinks";
}

const char* name_of(RowKind kind) {
  switch (kind) {
    case RowKind::EndToEnd:
      return "end to end";
    case RowKind::Camera:
      return "camera";
    case RowKind::Wait:
      return "wait";
    case RowKind::Transfer:
      return "transfer";
    case RowKind::Stage:
      return "stage";
    case RowKind::Sink:
      return "sink";
    case RowKind::Interval:
      return "interval";
    case RowKind::Traced:
      break;
  }
  return "traced";
}

}  // namespace contorno::latency
