#include "pipeline/run/camera_spec.h"

#include <algorithm>

namespace contorno {

const ParamDeclaration& camera_params() {
  static const ParamDeclaration declaration = [] {
    using P = CameraSettings;
    ParamList<P> list;
    list.flag("required", &P::required,
              "Frames of all cameras wait until this one is there; a run that is stopped without it fails.")
        .number("weight", &P::weight, 0.01, 100, Unit::None,
                "Share of the frames that are worked on, beside those of the others, when not all can be.")
        .number("max_rate", &P::max_rate, 0, 1e6, Unit::PerSecond,
                "Most frames a second that are read; 0 takes twice the rate that a live source declares, and "
                "any of a recording.");
    return declare(std::move(list));
  }();
  return declaration;
}

const ParamDeclaration& live_params() {
  static const ParamDeclaration declaration = [] {
    using P = LiveSettings;
    ParamList<P> list;
    list.number("stall", &P::stall_ms, 0, 3.6e6, Unit::Milliseconds,
                "A live camera that gives no frame for so long is opened again; 0 takes the greater of 1000 "
                "and four intervals between frames.")
        .numbers("reconnect", &P::reconnect_ms, 2, 2, 1, 3.6e6, Unit::Milliseconds,
                 "The first wait before a camera is opened again, which doubles with every attempt, and the "
                 "longest.");
    return declare(std::move(list), [](const P& params, const ParamTrial& trial) {
      if (params.reconnect_ms[0] > params.reconnect_ms[1])
        trial.refuse("reconnect", ExitCode::BadConfig,
                     "reconnect: the first wait is longer than the longest");
    });
  }();
  return declaration;
}

bool is_camera_name(std::string_view text) {
  const auto begins = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  constexpr std::size_t kLongest = 32;
  return !text.empty() && text.size() <= kLongest && begins(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return begins(c) || c == '_' || c == '-'; });
}

}  // namespace contorno
