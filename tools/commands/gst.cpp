// contorno gst: the line of gst-launch-1.0 that does what a graph does, with the plugin's element in the
// middle.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <sstream>
#include <vector>

#include "config/load.h"
#include "cuda/error.h"
#include "tools/commands/commands.h"
#include "tools/say.h"

namespace contorno {
namespace {

struct GstArguments {
  std::string graph, input, output = ".";
};

constexpr std::string_view kPlain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,+-@%=";

/// KEY=VALUE for gst-launch behind a shell: in the quotes of both where they are needed.
std::string property(std::string_view key, const std::string& value) {
  if (!value.empty() && value.find_first_not_of(kPlain) == std::string::npos)
    return fmt::format("{}={}", key, value);
  std::string quoted;
  for (const char c : value) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return fmt::format("'{}=\"{}\"'", key, quoted);
}

std::string text_of(const ParamSet& params, std::string_view key) {
  return to_text(params.get(key));
}

/// The parameters that differ from their defaults as properties.
std::string properties_of(const ParamSet& params) {
  const ParamSet defaults(params.declaration());
  std::string text;
  for (const ParamSpec& spec : params.declaration().specs) {
    const std::string value = text_of(params, spec.name);
    if (value == text_of(defaults, spec.name)) continue;
    std::string name = spec.name == "live" ? "is-live" : spec.name == "frames" ? "num-buffers" : spec.name;
    std::replace(name.begin(), name.end(), '_', '-');
    text += " " + property(name, value);
  }
  return text;
}

std::string camera_elements(const ParamSet& params) {
  std::string caps = "video/x-raw";
  for (const char* side : {"width", "height"})
    if (const std::string value = text_of(params, side); value != "0")
      caps += fmt::format(",{}={}", side, value);
  const std::string filter = caps == "video/x-raw" ? "" : fmt::format(" ! {}", caps);
  return fmt::format("v4l2src {}{} ! videoconvert ! queue leaky=downstream max-size-buffers=2",
                     property("device", text_of(params, "device")), filter);
}

std::string video_elements(const ParamSet& params) {
  const std::string location = text_of(params, "location");
  if (location == "-") return "fdsrc ! decodebin";
  if (location.find("://") != std::string::npos)
    return fmt::format("uridecodebin {} ! queue", property("uri", location));
  return fmt::format("filesrc {} ! decodebin", property("location", location));
}

/// A word behind a shell: in its quotes where it would take it for something else.
std::string shell_word(const std::string& word) {
  if (word == "!" || (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos)) return word;
  std::string quoted;
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return "'" + quoted + "'";
}

/// The same of all words of a launch line. GStreamer puts them together again with blanks, so that quotes
/// which hold several of them stay quotes.
std::string shell_words(const std::string& text) {
  std::string line, word;
  std::istringstream words(text);
  while (words >> word) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

/// The words of a text with the quotes of a shell, but without what else a shell does (as g_shell_parse_argv,
/// by which the source reads it).
std::vector<std::string> unquoted_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  bool open = false;
  const auto end_word = [&] {
    if (open) words.push_back(word);
    word.clear(), open = false;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool escapes =
        c == '\\' && i + 1 < text.size() && quote != '\'' &&
        (quote == 0 || std::string_view("\"$`\\\n").find(text[i + 1]) != std::string_view::npos);
    if (escapes)
      word += text[++i], open = true;
    else if (c == quote)
      quote = 0;
    else if (quote == 0 && (c == '\'' || c == '"'))
      quote = c, open = true;
    else if (quote == 0 && (c == ' ' || c == '\t' || c == '\n'))
      end_word();
    else
      word += c, open = true;
  }
  end_word();
  return words;
}

/// NAME=VALUE with blanks between them, as `properties` of the source gst has them, for gst-launch behind a
/// shell.
std::string property_words(const std::string& properties) {
  std::string line;
  for (const std::string& word : unquoted_words(properties)) {
    const std::size_t equals = word.find('=');
    line += " " + (equals == std::string::npos ? shell_word(word)
                                               : property(word.substr(0, equals), word.substr(equals + 1)));
  }
  return line;
}

std::string gst_elements(const ParamSet& params) {
  const std::string launch = text_of(params, "launch"), properties = text_of(params, "properties"),
                    caps = text_of(params, "caps");
  std::string line = launch.empty() ? shell_word(text_of(params, "element")) : shell_words(launch);
  line += property_words(properties);
  if (!caps.empty()) line += " ! " + shell_words(caps);
  return line;
}

std::string source_elements(const SourceSpec& source) {
  const std::string& type = source.type->name;
  if (type == "video") return video_elements(source.params);
  if (type == "camera") return camera_elements(source.params);
  if (type == "gst") return gst_elements(source.params);
  if (type == "test")
    return fmt::format("videotestsrc {} num-buffers={} ! video/x-raw,width={},height={}",
                       property("pattern", text_of(source.params, "pattern")),
                       text_of(source.params, "frames"), text_of(source.params, "width"),
                       text_of(source.params, "height"));
  if (type == "synthetic") {
    const bool live = std::get<bool>(source.params.get("live"));
    return fmt::format("contornosrc name=line{}{}", live ? "" : " is-live=false",
                       properties_of(source.params));
  }
  throw Error(ExitCode::BadOption,
              fmt::format("the source '{}' has no element of GStreamer in its place, allowed are video, "
                          "camera, gst, test and synthetic",
                          type));
}

/// Encoder and container by the name of a file.
std::string encoding_of(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".mp4") return "openh264enc ! h264parse ! mp4mux";
  if (extension == ".avi") return "jpegenc ! avimux";
  if (extension == ".ogv") return "theoraenc ! oggmux";
  return fmt::format("vp8enc deadline=1 ! {}", extension == ".webm" ? "webmmux" : "matroskamux");
}

/// The branch of a sink; empty where there is none.
std::string sink_elements(const SinkSpec& sink, const std::string& output) {
  const std::string& type = sink.type->name;
  const auto file = [&] {
    return "filesink " +
           property("location", (std::filesystem::path(output) / text_of(sink.params, "path")).string());
  };
  if (type == "jsonl") return "contornometa2json ! " + file();
  if (type == "preview") return "videoconvert ! autovideosink";
  if (type == "video")
    return fmt::format("videoconvert ! {} ! {}", encoding_of(text_of(sink.params, "path")), file());
  return {};
}

/// What a node takes of the source; the graph is not bound to one yet.
bool takes_maps(const GraphSpec& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const NodeSpec& node) {
    return std::any_of(node.inputs.begin(), node.inputs.end(), [](const Origin& origin) {
      return origin.node == Origin::kSource &&
             (origin.port == Origin::kMaps || origin.port == Origin::kMapsOrFrame);
    });
  });
}

std::string launch_line(const GraphSpec& graph, const GstArguments& arguments) {
  const bool has_maps = graph.source.type->name == "synthetic" && takes_maps(graph);
  std::vector<std::string> branches;
  bool shown = false;
  for (const SinkSpec& sink : graph.sinks) {
    const std::string branch = sink_elements(sink, arguments.output);
    if (branch.empty())
      say(fmt::format("the sink '{}' has no element of GStreamer in its place, and is left out", sink.name));
    else
      branches.push_back(branch);
    shown = shown || (!branch.empty() && sink.type->name != "jsonl");
  }
  if (branches.empty()) branches.emplace_back("fakesink");
  std::string line = "gst-launch-1.0 " + source_elements(graph.source) +
                     (has_maps ? " line.src ! queue" : "") + " ! contorno name=contorno " +
                     property("config", std::filesystem::absolute(arguments.graph).string());
  if (!shown) line += " overlay=false";
  if (branches.size() == 1)
    line += " ! " + branches[0];
  else
    line +=
        fmt::format(" ! tee name=results results. ! queue ! {}", fmt::join(branches, " results. ! queue ! "));
  if (has_maps) line += " line.maps ! queue ! contorno.maps";
  return line;
}

int print_line(const GstArguments& arguments, const Catalog& catalog) {
  if (arguments.graph == "-")
    throw Error(ExitCode::Usage,
                "the element reads the graph itself, so it has to be a file, not standard input");
  config::LoadOptions options;
  if (!arguments.input.empty()) options.input = arguments.input;
  print(
      std::string_view(launch_line(config::load_graph(arguments.graph, catalog, options), arguments) + "\n"));
  return 0;
}

}  // namespace

void add_gst_command(CLI::App& app, const Catalog& catalog, Action& action) {
  auto arguments = std::make_shared<GstArguments>();
  CLI::App* command =
      app.add_subcommand("gst", "Print the line of gst-launch-1.0 that does what a graph does");
  command->add_option("GRAPH", arguments->graph, "Graph file (YAML)")->required();
  command->add_option("--input", arguments->input,
                      "What the source reads, instead of the graph's (file, URI, device)");
  command->add_option("--output", arguments->output, "Folder for the files that are written")
      ->capture_default_str();
  command->callback([arguments, &catalog, &action] {
    action = [arguments, &catalog] { return print_line(*arguments, catalog); };
  });
}

}  // namespace contorno
