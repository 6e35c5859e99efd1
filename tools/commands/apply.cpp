// contorno apply: one stage on one image or array, or on the contours of a file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <span>

#include "base/error.h"
#include "config/describe.h"
#include "config/options.h"
#include "pipeline/graph/applied.h"
#include "pipeline/shared/threads.h"
#include "plugins/text/pango.h"
#include "tools/apply_contours.h"
#include "tools/apply_files.h"
#include "tools/commands/commands.h"
#include "tools/commands/map_options.h"
#include "tools/commands/number_options.h"
#include "tools/say.h"
#include "tools/text_file.h"

namespace contorno {
namespace {

struct ApplyArguments {
  std::string stage, input, output;
  std::string backend = "auto";
  ReadOptions read;
  int threads = 0;
  bool time = false;
};

using Settings = std::vector<std::pair<std::string, std::string>>;

/// `--name value`, `--name=value`, and `--name` alone for a flag.
Settings settings_of(const std::vector<std::string>& words, const StageType& type) {
  Settings settings;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("--"))
      throw Error(ExitCode::Usage, fmt::format("'{}' is no option; write --name value", words[i]));
    const std::size_t equals = words[i].find('=');
    std::string name = words[i].substr(2, equals == std::string::npos ? equals : equals - 2);
    const ParamSpec* spec = type.params.find(name);
    if (equals != std::string::npos) {
      settings.emplace_back(name, words[i].substr(equals + 1));
    } else if (i + 1 < words.size() && !words[i + 1].starts_with("--")) {
      settings.emplace_back(name, words[++i]);
    } else if (spec != nullptr && spec->kind == ParamKind::Flag) {
      settings.emplace_back(name, "true");
    } else {
      throw Error(ExitCode::Usage, fmt::format("--{} needs a value", name));
    }
  }
  return settings;
}

/// Takes the settings that name a port ("--mask FILE", "--level-out FILE") out of those of the stage.
std::map<std::string, std::string> take_files(Settings& settings, const std::vector<PortSpec>& ports,
                                              const std::string& suffix) {
  std::map<std::string, std::string> files;
  for (std::size_t port = 1; port < ports.size(); ++port)
    std::erase_if(settings, [&](const auto& setting) {
      if (setting.first != ports[port].name + suffix) return false;
      files[ports[port].name] = setting.second;
      return true;
    });
  return files;
}

/// What the inputs of a stage were read from files into. Of a stage that makes contours of contours, which is
/// applied to every frame of their file, those are not among them.
struct LoadedInputs {
  std::vector<LoadedImage> images;
  std::vector<ContourFrame> contours;
  std::vector<Value> values;  ///< in the order of the ports
};

const std::string& path_of(const ApplyArguments& arguments, const StageType& type, std::size_t port,
                           std::map<std::string, std::string>& others) {
  const std::string& name = type.inputs[port].name;
  const std::string& path = port == 0 ? arguments.input : others[name];
  if (port == 0 && path == "-")
    throw Error(ExitCode::Usage, fmt::format("the stage '{}' takes '{}': {} Write its file in place of -",
                                             type.name, name, type.inputs[port].sentence));
  if (path.empty())
    throw Error(ExitCode::Usage, fmt::format("the stage '{}' also takes '{}': {} Give a file with --{}",
                                             type.name, name, type.inputs[port].sentence, name));
  return path;
}

LoadedInputs load_inputs(const ApplyArguments& arguments, const StageType& type,
                         std::map<std::string, std::string>& others) {
  LoadedInputs inputs;
  for (std::size_t port = 0; port < type.inputs.size(); ++port) {
    if (port == 0 && is_on_contours(type)) continue;  // read frame by frame
    const std::string& path = path_of(arguments, type, port, others);
    if (type.inputs[port].type == PortType::Contours) {
      inputs.values.emplace_back(inputs.contours.emplace_back(load_only_frame(path)).view);
    } else {
      inputs.values.emplace_back(inputs.images.emplace_back(arguments.read.load(path)).view);
    }
  }
  if (type.inputs.empty() && arguments.input != "-")
    throw Error(ExitCode::Usage, fmt::format("the stage '{}' takes no image; write - in place of '{}'",
                                             type.name, arguments.input));
  return inputs;
}

/// Everything that the command line says, read.
struct Application {
  const StageType& type;
  std::map<std::string, std::string> input_files, output_files;
  ParamSet params;
  Backend backend;
  const TextRasteriser* text;
  OutputRegister& files;
};

void save_output(const Value& value, const std::string& path, const Application& what, const Catalog& catalog,
                 const std::string& owner) {
  save_image(path, std::get<ImageView>(value), catalog, what.files, owner);
}

ApplyTime apply_once(const ApplyArguments& arguments, Application& what, const Catalog& catalog) {
  const LoadedInputs inputs = load_inputs(arguments, what.type, what.input_files);
  AppliedStage stage(what.type, what.params, what.backend, arguments.threads,
                     inputs.contours.empty() ? std::vector<ClassSpec>{} : inputs.contours[0].classes,
                     what.text);
  const std::int64_t ns = apply_to(stage, inputs.values);
  save_output(stage.output(0), arguments.output, what, catalog, "OUT");
  for (std::size_t port = 1; port < what.type.outputs.size(); ++port)
    if (const auto file = what.output_files.find(what.type.outputs[port].name);
        file != what.output_files.end())
      save_output(stage.output(port), file->second, what, catalog, "--" + file->first + "-out");
  return {.ns = ns, .frames = 1, .backend = stage.backend()};
}

int apply(const ApplyArguments& arguments, const std::vector<std::string>& words, const Catalog& catalog) {
  const StageType& type = stage_called(catalog.stages, "stage", arguments.stage);
  if (!is_on_contours(type)) check_makes_images(type);
  Settings settings = settings_of(words, type);
  auto input_files = take_files(settings, type.inputs, "");
  auto output_files = take_files(settings, type.outputs, "-out");
  OutputRegister files = command_files();
  if (arguments.input != "-") files.add_input(arguments.input, "IN");
  for (const auto& [port, path] : input_files) files.add_input(path, "--" + port);
  const ParamSet params = config::params_from_text(type.params, type.name, settings, catalog.read_mask);
  files.add_inputs(params, fmt::format("the stage '{}'", type.name));
  if (!is_on_contours(type)) files.claim(arguments.output, "OUT");
  for (const auto& [port, path] : output_files) files.claim(path, "--" + port + "-out");
  const std::unique_ptr<TextRasteriser> text = make_pango_text();
  Application what{.type = type,
                   .input_files = std::move(input_files),
                   .output_files = std::move(output_files),
                   .params = params,
                   .backend = backend_called(arguments.backend),
                   .text = text.get(),
                   .files = files};
  ApplyTime time;
  if (is_on_contours(type)) {
    const LoadedInputs inputs = load_inputs(arguments, type, what.input_files);
    time = apply_to_file({.type = type,
                          .params = params,
                          .backend = what.backend,
                          .threads = arguments.threads,
                          .text = text.get(),
                          .images = inputs.values},
                         arguments.input, arguments.output, files);
  } else {
    time = apply_once(arguments, what, catalog);
  }
  if (arguments.time) say_time(type.name, time.ns, time.backend, time.frames);
  say_replaced(files);
  return static_cast<int>(ExitCode::Ok);
}

}  // namespace

void add_apply_command(CLI::App& app, const Catalog& catalog, Action& action) {
  auto arguments = std::make_shared<ApplyArguments>();
  CLI::App* command = app.add_subcommand(
      "apply",
      "Apply one stage to one image, .npy array or file of contours; its parameters as --name value");
  command->add_option("STAGE", arguments->stage, "A stage of `contorno stages`")
      ->type_name("STAGE")
      ->required();
  command
      ->add_option("IN", arguments->input,
                   "Image, .npy, or contours (.jsonl, .geojson, .json); - for a stage that takes none")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("OUT", arguments->output,
                   ".npy, .png, .jpg, .tif, or contours (.jsonl, .geojson, .json) to write")
      ->type_name("FILE")
      ->required();
  add_read_options(*command, arguments->read);
  add_backend(*command, arguments->backend);
  add_threads(*command, arguments->threads);
  add_time(*command, arguments->time, "what the stage took, without reading and writing files");
  command->allow_extras();
  command->footer(
      "'contorno stages STAGE' lists a stage's parameters, which are given as --NAME VALUE.\n"
      "A second input or output of a stage is given as --PORT FILE and --PORT-out FILE.");
  command->callback([arguments, command, &catalog, &action] {
    action = [arguments, words = command->remaining(), &catalog] {
      return apply(*arguments, words, catalog);
    };
  });
}

}  // namespace contorno
