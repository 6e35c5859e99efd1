// contorno apply: one stage on one image or array.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>

#include "config/describe.h"
#include "config/options.h"
#include "cuda/error.h"
#include "pipeline/graph/applied.h"
#include "pipeline/shared/threads.h"
#include "plugins/text/pango.h"
#include "tools/apply_files.h"
#include "tools/commands/commands.h"
#include "tools/commands/map_options.h"
#include "tools/commands/number_options.h"
#include "tools/text_file.h"

namespace contorno {
namespace {

struct ApplyArguments {
  std::string stage, input, output;
  std::string backend = "auto";
  ReadOptions read;
  int threads = 0;
};

const StageType& stage_called(const std::string& name, const Catalog& catalog) {
  if (const StageType* type = catalog.stage(name)) return *type;
  std::vector<std::string> names;
  for (const StageType* type : catalog.stages) names.push_back(type->name);
  const std::string near = nearest(name, names);
  throw Error(ExitCode::Usage, fmt::format("there is no stage '{}'{}; the stages are {}", name,
                                           near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near),
                                           fmt::join(names, ", ")));
}

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

std::vector<LoadedImage> load_inputs(const ApplyArguments& arguments, const StageType& type,
                                     std::map<std::string, std::string>& others) {
  std::vector<LoadedImage> images;
  for (std::size_t port = 0; port < type.inputs.size(); ++port) {
    const std::string& name = type.inputs[port].name;
    const std::string path = port == 0 ? arguments.input : others[name];
    if (path.empty() || (port == 0 && path == "-"))
      throw Error(ExitCode::Usage, fmt::format("the stage '{}' also takes '{}': {} Give a file with --{}",
                                               type.name, name, type.inputs[port].sentence, name));
    images.push_back(arguments.read.load(path));
  }
  if (type.inputs.empty() && arguments.input != "-")
    throw Error(ExitCode::Usage, fmt::format("the stage '{}' takes no image; write - in place of '{}'",
                                             type.name, arguments.input));
  return images;
}

const ImageView& image_output(const AppliedStage& stage, const StageType& type, std::size_t port) {
  const auto* image = std::get_if<ImageView>(&stage.output(port));
  if (image == nullptr)
    throw Error(ExitCode::BadOption, fmt::format("the stage '{}' makes {}, not an image; use it in a graph",
                                                 type.name, name_of(type.outputs[port].type)));
  return *image;
}

int apply(const ApplyArguments& arguments, const std::vector<std::string>& words, const Catalog& catalog) {
  const StageType& type = stage_called(arguments.stage, catalog);
  Settings settings = settings_of(words, type);
  auto input_files = take_files(settings, type.inputs, "");
  const auto output_files = take_files(settings, type.outputs, "-out");
  OutputRegister files = command_files();
  if (arguments.input != "-") files.add_input(arguments.input, "IN");
  for (const auto& [port, path] : input_files) files.add_input(path, "--" + port);
  const ParamSet params = config::params_from_text(type.params, type.name, settings, catalog.read_mask);
  files.add_inputs(params, fmt::format("the stage '{}'", type.name));
  files.claim(arguments.output, "OUT");
  for (const auto& [port, path] : output_files) files.claim(path, "--" + port + "-out");
  ParamSet pipeline(pipeline_params());
  pipeline.set("backend", arguments.backend);
  const std::unique_ptr<TextRasteriser> text = make_pango_text();
  AppliedStage stage(type, params, pipeline.as<PipelineSettings>().backend, arguments.threads, {},
                     text.get());
  const std::vector<LoadedImage> images = load_inputs(arguments, type, input_files);
  std::vector<ImageFormat> formats;
  for (const LoadedImage& image : images) formats.push_back(image.view.format);
  stage.plan(formats);
  for (std::size_t port = 0; port < images.size(); ++port) copy_image(images[port].view, stage.input(port));
  stage.run();
  save_image(arguments.output, image_output(stage, type, 0), catalog, files, "OUT");
  for (std::size_t port = 1; port < type.outputs.size(); ++port)
    if (const auto file = output_files.find(type.outputs[port].name); file != output_files.end())
      save_image(file->second, image_output(stage, type, port), catalog, files, "--" + file->first + "-out");
  say_replaced(files);
  return static_cast<int>(ExitCode::Ok);
}

}  // namespace

void add_apply_command(CLI::App& app, const Catalog& catalog, Action& action) {
  auto arguments = std::make_shared<ApplyArguments>();
  CLI::App* command = app.add_subcommand(
      "apply", "Apply one stage to one image or .npy array; its parameters as --name value");
  command->add_option("STAGE", arguments->stage, "A stage of `contorno stages`")->required();
  command->add_option("IN", arguments->input, "Image or .npy file; - for a stage that takes none")
      ->required();
  command->add_option("OUT", arguments->output, ".npy, .png, .jpg or .tif file to write")->required();
  add_read_options(*command, arguments->read);
  add_backend(*command, arguments->backend);
  add_threads(*command, arguments->threads);
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
