#include "pipeline/run/camera_spec.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "pipeline/shared/printable.h"

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

std::vector<DegradeStep> degrade_steps(std::string_view words) {
  constexpr std::string_view kBetween = ", ";
  std::vector<DegradeStep> steps;
  for (std::size_t begin = 0; (begin = words.find_first_not_of(kBetween, begin)) != std::string_view::npos;) {
    const std::size_t end = std::min(words.find_first_of(kBetween, begin), words.size());
    const std::string_view word = words.substr(begin, end - begin);
    const std::optional<DegradeStep> step = degrade_step(word);
    const std::string shown = printable(word, 40);
    if (!step)
      throw Error(ExitCode::BadConfig,
                  fmt::format("degrade has '{}', allowed is a list of overlay, mip and thin", shown));
    if (std::find(steps.begin(), steps.end(), *step) != steps.end())
      throw Error(ExitCode::BadConfig, fmt::format("degrade has '{}' twice", shown));
    steps.push_back(*step);
    begin = end;
  }
  return steps;
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
                 "longest.")
        .text("degrade", &P::degrade,
              "What a live camera does without while its frames cannot be worked on in time, step by step, a "
              "list of overlay, mip and thin: [overlay, mip]; empty: nothing.")
        .choice("fallback", &P::fallback, {{"none", Fallback::None}, {"cpu", Fallback::Cpu}},
                "What a run does that wants a device where there is none: it ends, or goes on on the CPU.");
    return declare(std::move(list), [](const P& params, const ParamTrial& trial) {
      trial.run("degrade", [&] { degrade_steps(params.degrade); });
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
