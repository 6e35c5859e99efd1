// contorno doctor: what this machine can do, what is missing and how to mend it.
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "cuda/device.h"
#include "pipeline/graph/device_thread.h"
#include "pipeline/shared/printable.h"
#include "plugins/modules.h"
#include "plugins/publish/publish.h"
#include "tools/commands/commands.h"
#include "tools/commit.h"
#include "tools/say.h"
#ifdef CONTORNO_HAVE_GSTREAMER
#include "plugins/media/media.h"
#endif

namespace contorno {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* kBuildAll = "build all of it: cmake --build --preset release";

/// Whether the folder has a file whose name has these letters in it.
bool has_file(const fs::path& folder, std::string_view letters) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().filename().string().find(letters) != std::string::npos) return true;
  return false;
}

/// Whether each module can be opened here, else why not.
ordered_json modules_json() {
  ordered_json json = ordered_json::array();
  for (const ModuleSpec* module : kModules) {
    ordered_json one = {{"name", module->name}, {"present", true}, {"does", module->does}};
    try {
      open_module(*module);
    } catch (const Error& error) {
      one["present"] = false, one["reason"] = error.what();
    }
    json.push_back(one);
  }
  return json;
}

/// The Python package beside the library: in a build folder, or installed with it.
ordered_json python_json() {
  const fs::path library = library_folder();
  // The folders of the build, of installed modules by CMake's and by Debian's rule, and of a wheel, which has
  // the library.
  const fs::path parent = library.parent_path(), below = fs::path("python3") / "dist-packages";
  for (const fs::path& folder : {parent / "python", library / below, parent / below, parent})
    if (has_file(folder / "contorno", "_core.")) return {{"present", true}, {"folder", folder.string()}};
  return {{"present", false}, {"fix", kBuildAll}};
}

/// 0 where it does not answer.
std::size_t free_bytes(const DeviceInfo& device) {
  try {
    return free_bytes_of(device.index);
  } catch (const Error&) {
    return 0;
  }
}

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
                               {"bytes_free", free_bytes(one)}});
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
                                {"package", element.package},
                                {"fix", element.present ? "" : media.remedy(element)}});
  std::string fix;
  for (const std::string& package : media.missing_packages()) fix += " " + package;
  if (!fix.empty()) json["fix"] = "apt-get install" + fix;
  const std::string folder = library_folder() + "/gstreamer-1.0";
  json["plugin"] = {{"present", media.finds_contorno}, {"folder", folder}};
  if (!media.finds_contorno)
    json["plugin"]["fix"] = has_file(folder, "contorno") ? "export GST_PLUGIN_PATH=" + folder : kBuildAll;
  return json;
}

ordered_json camera_json(const CameraReport& camera) {
  ordered_json json = {{"device", camera.path},
                       {"name", camera.name},
                       {"serial", camera.serial},
                       {"bus_path", camera.bus_path},
                       {"usable", camera.reason.empty()}};
  if (!camera.reason.empty()) json["reason"] = camera.reason;
  json["formats"] = ordered_json::array();
  for (const CameraFormat& one : camera.formats)
    json["formats"].push_back({{"pixel_format", one.pixels},
                               {"size", one.size},
                               {"framerates", one.rates},
                               {"any_between", one.is_range},
                               {"text", one.text()}});
  json["controls"] = camera.controls;
  return json;
}
#endif

ordered_json cameras_json() {
  ordered_json json = ordered_json::array();
#ifdef CONTORNO_HAVE_GSTREAMER
  try {
    for (const CameraReport& camera : camera_reports()) json.push_back(camera_json(camera));
  } catch (const Error&) {  // GStreamer does not start, as its own row says
  }
#endif
  return json;
}

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
          {"cameras", cameras_json()},
          {"modules", modules_json()},
          {"python", python_json()},
          {"display", std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr}};
}

/// "ok       name: text", or "missing", each with its remedy on the next line.
void print_line(bool good, const std::string& name, const std::string& text, const std::string& fix = {}) {
  print("{:<8} {:<12} {}\n", good ? "ok" : "missing", name, text);
  if (!good && !fix.empty()) print("{:<8} {:<12} to mend it: {}\n", "", "", fix);
}

/// A line below that of `name`, whose text stands below its own.
void print_more(const std::string& text) {
  print("{:<8} {:<12} {}\n", "", "", text);
}

void print_cameras(const ordered_json& cameras) {
  if (cameras.empty()) print_line(false, "camera", "none was found");
  for (const ordered_json& camera : cameras) {
    std::string words = camera["device"];
    if (const std::string name = camera["name"]; !name.empty()) words += ", " + name;
    if (!camera["usable"]) words += "; " + camera["reason"].get<std::string>();
    print_line(camera["usable"], "camera", words);
    for (const auto& [key, text] : {std::pair{"serial", "serial number"}, {"bus_path", "bus path"}})
      if (const std::string name = camera[key]; !name.empty()) print_more(fmt::format("{} {}", text, name));
    for (const ordered_json& format : camera["formats"]) print_more(format["text"]);
    for (const ordered_json& control : camera["controls"])
      print_more("control " + control.get<std::string>());
  }
}

/// The broker that the user asks for, and how it is reached.
struct BrokerQuestion {
  std::string address, credentials, ca;
};

/// Whether a route could bring messages to it now: login, certificate, and settings as far as it tells them.
ordered_json broker_json(const BrokerQuestion& asked) {
  ordered_json json = {{"address", masked(asked.address)}, {"usable", false}};
  try {
    const RouteModule* const route = route_module_of(asked.address);
    if (route == nullptr)
      throw Error(
          ExitCode::BadOption,
          "no address of a broker: they begin with redis://, rediss://, mqtt://, mqtts://, kafka:// or "
          "kafka+ssl://");
    const RouteTarget target{.address = asked.address, .credentials = asked.credentials, .ca = asked.ca};
    route->check(target);
    route->connect(target);
    json["usable"] = true;
  } catch (const Error& error) {
    json["reason"] = printable_sentence(error.what());
  }
  return json;
}

void print_broker(const ordered_json& broker) {
  const bool usable = broker["usable"];
  print_line(usable, "broker",
             broker["address"].get<std::string>() +
                 (usable ? ", takes messages" : ": " + broker["reason"].get<std::string>()));
}

void print_text(const ordered_json& json) {
  print("contorno {}\n", CONTORNO_VERSION);
  print_line(true, "cpu", fmt::format("OpenMP, {} threads", json["cpu"]["threads"].get<unsigned>()));
  const ordered_json& cuda = json["cuda"];
  if (cuda["available"]) {
    for (const ordered_json& one : cuda["devices"])
      print_line(true, "cuda",
                 fmt::format("{}, compute capability {}, {} MiB, driver for CUDA {}",
                             device_label(one["index"]), one["compute_capability"].get<std::string>(),
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
                   element["fix"].get<std::string>());
    if (media.contains("plugin"))
      print_line(media["plugin"]["present"], "  contorno", "GStreamer's element contorno",
                 media["plugin"].value("fix", ""));
  }
  if (media["built_in"]) print_cameras(json["cameras"]);
  for (const ordered_json& module : json["modules"])
    print_line(module["present"], "module",
               module["present"]
                   ? module["name"].get<std::string>() + ", " + module["does"].get<std::string>()
                   : module["reason"].get<std::string>());
  const ordered_json& python = json["python"];
  print_line(python["present"], "python",
             python["present"] ? "import contorno, with PYTHONPATH=" + python["folder"].get<std::string>()
                               : "there is no package for Python beside this program",
             python.value("fix", ""));
  if (json.contains("broker")) print_broker(json["broker"]);
  print_line(json["display"], "display",
             json["display"] ? "--preview can open a window" : "none; --preview cannot open a window");
}

}  // namespace

void add_doctor_command(CLI::App& app, Action& action) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command =
      app.add_subcommand("doctor", "Say what this machine can do, and how to mend what it cannot");
  command->add_flag("--json", *as_json, "As JSON");
  auto broker = std::make_shared<BrokerQuestion>();
  CLI::Option* const asked =
      command
          ->add_option(
              "--broker", broker->address,
              "Connect to this broker, as the sink publish would: its login, certificate and settings")
          ->type_name("ADDRESS");
  command
      ->add_option("--credentials", broker->credentials,
                   "The login for it: a name in $CREDENTIALS_DIRECTORY, or a path with a '/'")
      ->type_name("FILE")
      ->needs(asked);
  command->add_option("--ca", broker->ca, "The issuers of certificates that are trusted (PEM), with TLS")
      ->type_name("FILE")
      ->needs(asked);
  command->callback([as_json, broker, &action] {
    action = [as_json, broker] {
      ordered_json json = findings();
      if (!broker->address.empty()) json["broker"] = broker_json(*broker);
      if (*as_json)
        print(json.dump(2) + "\n");
      else
        print_text(json);
      return 0;
    };
  });
}

}  // namespace contorno
