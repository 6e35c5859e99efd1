// contorno doctor: what this machine can do, what is missing and how to mend it.
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "cuda/device.h"
#include "tools/commands/commands.h"
#include "tools/commit.h"
#include "tools/say.h"
#ifdef CONTORNO_HAVE_GSTREAMER
#include "plugins/media/media.h"
#endif

namespace contorno {
namespace {

using nlohmann::ordered_json;

ordered_json device_json() {
  const DeviceReport& device = device_report();
  ordered_json json = {{"built_in", device.built_in}, {"available", device.available}};
  if (device.built_in) json["runtime"] = device.runtime_version, json["driver"] = device.driver_version;
  if (!device.available) json["reason"] = device.reason, json["fix"] = device.fix;
  json["devices"] = ordered_json::array();
  for (const DeviceInfo& one : device.devices)
    json["devices"].push_back({{"index", one.index},
                               {"name", one.name},
                               {"compute_capability", one.compute_capability},
                               {"multiprocessors", one.multiprocessors},
                               {"bytes", one.total_bytes},
                               {"bytes_free", one.free_bytes}});
  return json;
}

#ifdef CONTORNO_HAVE_GSTREAMER
ordered_json started_media_json() {
  const MediaReport media = media_report();
  ordered_json json = {{"built_in", true}, {"version", media.version}, {"complete", media.complete()}};
  json["elements"] = ordered_json::array();
  for (const MediaElement& element : media.elements)
    json["elements"].push_back({{"name", element.name},
                                {"present", element.present},
                                {"optional", element.optional},
                                {"purpose", element.purpose},
                                {"package", element.package}});
  std::string fix;
  for (const std::string& package : media.missing_packages()) fix += " " + package;
  if (!fix.empty()) json["fix"] = "apt-get install" + fix;
  return json;
}
#endif

ordered_json media_json() {
#ifdef CONTORNO_HAVE_GSTREAMER
  try {
    return started_media_json();
  } catch (const Error& error) {  // little memory, for example; the rest of the report helps to see why
    ordered_json json = {{"built_in", true}, {"complete", false}, {"reason", error.what()}};
    if (error.code() == ExitCode::OutOfMemory)
      json["fix"] = "raise the limit; graphs without pictures and videos run with it";
    json["elements"] = ordered_json::array();
    return json;
  }
#else
  return {{"built_in", false}, {"complete", false}, {"fix", "build with GStreamer (CONTORNO_GSTREAMER=ON)"}};
#endif
}

ordered_json findings() {
  return {{"contorno", CONTORNO_VERSION},
          {"commit", build_commit()},
          {"cpu", {{"threads", std::thread::hardware_concurrency()}}},
          {"cuda", device_json()},
          {"gstreamer", media_json()},
          {"display", std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr}};
}

/// "ok       name: text", or "missing", each with its remedy on the next line.
void print_line(bool good, const std::string& name, const std::string& text, const std::string& fix = {}) {
  print("{:<8} {:<12} {}\n", good ? "ok" : "missing", name, text);
  if (!good && !fix.empty()) print("{:<8} {:<12} to mend it: {}\n", "", "", fix);
}

void print_text(const ordered_json& json) {
  print("contorno {}\n", CONTORNO_VERSION);
  print_line(true, "cpu", fmt::format("OpenMP, {} threads", json["cpu"]["threads"].get<unsigned>()));
  const ordered_json& cuda = json["cuda"];
  if (cuda["available"]) {
    for (const ordered_json& one : cuda["devices"])
      print_line(true, "cuda",
                 fmt::format("{}, compute capability {}, {} MiB, driver for CUDA {}",
                             one["name"].get<std::string>(), one["compute_capability"].get<std::string>(),
                             one["bytes"].get<std::size_t>() >> 20, cuda["driver"].get<std::string>()));
  } else {
    print_line(false, "cuda", cuda["reason"].get<std::string>() + "; graphs run on the cpu backend",
               cuda["fix"].get<std::string>());
  }
  const ordered_json& media = json["gstreamer"];
  if (!media["built_in"]) {
    print_line(false, "gstreamer", "not in this build", media["fix"].get<std::string>());
  } else {
    print_line(media["complete"], "gstreamer", media.value("version", media.value("reason", "")),
               media.value("fix", ""));
    for (const ordered_json& element : media["elements"])
      if (!element["present"])
        print_line(false, "  " + element["name"].get<std::string>(),
                   element["purpose"].get<std::string>() + (element["optional"] ? " (optional)" : ""),
                   "apt-get install " + element["package"].get<std::string>());
  }
  print_line(json["display"], "display",
             json["display"] ? "--preview can open a window" : "none; --preview cannot open a window");
}

}  // namespace

void add_doctor_command(CLI::App& app, Action& action) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command =
      app.add_subcommand("doctor", "Say what this machine can do, and how to mend what it cannot");
  command->add_flag("--json", *as_json, "As JSON");
  command->callback([as_json, &action] {
    action = [as_json] {
      const ordered_json json = findings();
      if (*as_json)
        print(json.dump(2) + "\n");
      else
        print_text(json);
      return 0;
    };
  });
}

}  // namespace contorno
