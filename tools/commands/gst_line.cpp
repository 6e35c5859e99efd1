#include "tools/commands/gst_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "plugins/media/camera.h"
#include "plugins/media/params.h"
#include "tools/commands/launch_words.h"

namespace contorno {
namespace {

std::string text_of(const ParamSet& params, std::string_view key) {
  return to_text(params.get(key));
}

/// The parameters that differ from their defaults.
std::vector<std::string> changed(const ParamSet& params) {
  const ParamSet defaults(params.declaration());
  std::vector<std::string> names;
  for (const ParamSpec& spec : params.declaration().specs)
    if (text_of(params, spec.name) != text_of(defaults, spec.name)) names.push_back(spec.name);
  return names;
}

/// A rate as caps have it: 12.5 is 25/2.
std::string fraction_of(double rate) {
  constexpr std::int64_t kDenominator = 1001'000;  // of 30000/1001 too
  const std::int64_t numerator = std::llround(rate * kDenominator);
  const std::int64_t divisor = std::max<std::int64_t>(1, std::gcd(numerator, kDenominator));
  return fmt::format("{}/{}", numerator / divisor, kDenominator / divisor);
}

const char* encoder_of(const VideoSinkParams& params, Codec codec) {
  switch (params.encoder) {
    case Encoder::X264:
      return "x264enc ! h264parse";
    case Encoder::Nvidia:
      return "nvh264enc ! h264parse";
    case Encoder::Va:
      return "vah264enc ! h264parse";
    case Encoder::Auto:
      break;
  }
  switch (codec) {
    case Codec::Mjpeg:
      return "jpegenc";
    case Codec::Png:
      return "pngenc";
    case Codec::Theora:
      return "theoraenc";
    case Codec::H264:
      return "openh264enc ! h264parse";
    case Codec::Auto:
    case Codec::Vp8:
      break;
  }
  return "vp8enc deadline=1";
}

struct FilmFormat {
  std::string_view extension;
  const char* muxer;
  Codec codec;  ///< unless another is asked for
};
constexpr std::array kFilmFormats{
    FilmFormat{".mkv", "matroskamux", Codec::Vp8}, FilmFormat{".webm", "webmmux", Codec::Vp8},
    FilmFormat{".avi", "avimux", Codec::Mjpeg},    FilmFormat{".ogv", "oggmux", Codec::Theora},
    FilmFormat{".mov", "qtmux", Codec::Mjpeg},     FilmFormat{".mp4", "mp4mux", Codec::H264}};

/// Encoder and container of a film.
std::string encoding_of(const VideoSinkParams& params) {
  std::string extension = std::filesystem::path(params.path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto* const format = std::find_if(kFilmFormats.begin(), kFilmFormats.end(),
                                          [&](const FilmFormat& one) { return one.extension == extension; });
  if (format == kFilmFormats.end())
    throw Error(ExitCode::BadOption,
                fmt::format("path is '{}', allowed are the extensions mkv, webm, avi, ogv, "
                            "mov and mp4",
                            params.path));
  const Codec codec = params.codec == Codec::Auto ? format->codec : params.codec;
  return fmt::format("{} ! {}", encoder_of(params, codec), format->muxer);
}

class LineOfGraph {
 public:
  LineOfGraph(const GraphSpec& graph, const GstLineFiles& files) : graph_(graph), files_(files) {}

  GstLine make() {
    const bool has_maps = graph_.source.type->name == "synthetic" && takes_maps();
    const std::string source = source_elements();
    const std::string ends = sinks();
    line_.text = fmt::format("gst-launch-1.0 {}{} ! contorno name=contorno {}{}{} ! {}{}", source,
                             has_maps ? " line.src ! queue" : "", loaded(),
                             words_.property("config", std::filesystem::absolute(files_.graph).string()),
                             shown_ ? "" : " overlay=false", ends,
                             has_maps ? " line.maps ! queue ! contorno.maps" : "");
    note_secrets();
    return std::move(line_);
  }

 private:
  /// What the element has to load before it reads the graph.
  std::string loaded() {
    if (files_.extensions.empty()) return {};
    return words_.property("load", fmt::format("{}", fmt::join(files_.extensions, ":"))) + " ";
  }

  /// Says which parameters have no place in the line, beside those that are `done`.
  void note_left_out(const std::string& whose, const ParamSet& params,
                     const std::vector<std::string_view>& done) {
    std::vector<std::string> names;
    for (const std::string& name : changed(params))
      if (std::find(done.begin(), done.end(), name) == done.end()) names.push_back(name);
    if (!names.empty())
      line_.notes.push_back(fmt::format("{} has {}, which has no place in the line and is left out", whose,
                                        fmt::join(names, ", ")));
  }

  void note_secrets() {
    const std::vector<std::string>& secrets = words_.secrets();
    for (std::size_t i = 0; i < secrets.size(); ++i)
      line_.notes.push_back(fmt::format("the line takes the secret in '{}' from the variable {}", secrets[i],
                                        LaunchWords::secret_variable(i)));
  }

  /// The path of the camera; its name as it stands in the graph, with a note, where the camera is not here.
  std::string path_of_camera(const std::string& device) {
    try {
      return camera_path(device, device_folder());
    } catch (const Error& error) {
      line_.notes.push_back(fmt::format("{}; the line says 'device' as the graph does", error.what()));
      return device;
    }
  }

  std::string camera_elements(const ParamSet& params) {
    const auto& camera = params.as<CameraParams>();
    const auto* const format =
        std::find_if(kPixelFormatNames.begin(), kPixelFormatNames.end(),
                     [&](const PixelFormatName& one) { return one.format == camera.pixel_format; });
    const bool is_chosen = format != kPixelFormatNames.end();
    const std::string media = is_chosen ? format->media : "video/x-raw";
    std::string fields;
    if (is_chosen && format->sample != nullptr) fields += fmt::format(",format={}", format->sample);
    for (const char* side : {"width", "height"})
      if (const std::string value = text_of(params, side); value != "0")
        fields += fmt::format(",{}={}", side, value);
    if (camera.framerate > 0) fields += ",framerate=" + fraction_of(camera.framerate);
    note_left_out("the source", params, {"device", "width", "height", "framerate", "pixel_format"});
    const std::string filter = is_chosen || !fields.empty() ? " ! " + words_.caps(media + fields) : "";
    return fmt::format("v4l2src {}{}{} ! videoconvert ! queue leaky=downstream max-size-buffers=2",
                       words_.property("device", path_of_camera(camera.device)), filter,
                       media == "image/jpeg" ? " ! jpegdec" : "");
  }

  std::string video_elements(const ParamSet& params) {
    note_left_out("the source", params, {"location"});
    const std::string location = text_of(params, "location");
    if (location == "-") return "fdsrc ! decodebin";
    if (location.find("://") != std::string::npos)
      return fmt::format("uridecodebin {} ! queue", words_.property("uri", location));
    return fmt::format("filesrc {} ! decodebin", words_.property("location", location));
  }

  std::string gst_elements(const ParamSet& params) {
    note_left_out("the source", params, {"element", "launch", "properties", "caps"});
    const std::string launch = text_of(params, "launch"), caps = text_of(params, "caps");
    std::string line = launch.empty() ? words_.element(text_of(params, "element")) : words_.launch(launch);
    if (!launch.empty())
      line_.notes.emplace_back(
          "the graph's own launch line is part of it, which can read and write what you can");
    line += words_.properties(text_of(params, "properties"));
    if (!caps.empty()) line += " ! " + words_.caps(caps);
    return line;
  }

  std::string test_elements(const ParamSet& params) {
    note_left_out("the source", params, {"pattern", "width", "height", "rate", "frames", "live"});
    const auto& test = params.as<TestParams>();
    return fmt::format("videotestsrc {} num-buffers={}{} ! video/x-raw,width={},height={},framerate={}",
                       words_.property("pattern", test.pattern), test.frames > 0 ? test.frames : -1,
                       test.live ? " is-live=true" : "", test.width, test.height, fraction_of(test.rate));
  }

  /// contornosrc has the parameters as properties.
  std::string synthetic_elements(const ParamSet& params) {
    const bool live = std::get<bool>(params.get("live"));
    std::string line = fmt::format("contornosrc name=line{}", live ? "" : " is-live=false");
    for (const std::string& name : changed(params)) {
      if (name == "live") continue;
      std::string property = name == "frames" ? "num-buffers" : name;
      std::replace(property.begin(), property.end(), '_', '-');
      line += " " + words_.property(property, text_of(params, name));
    }
    return line;
  }

  std::string source_elements() {
    const SourceSpec& source = graph_.source;
    const std::string& type = source.type->name;
    if (type == "video") return video_elements(source.params);
    if (type == "camera") return camera_elements(source.params);
    if (type == "gst") return gst_elements(source.params);
    if (type == "test") return test_elements(source.params);
    if (type == "synthetic") return synthetic_elements(source.params);
    throw Error(
        ExitCode::BadOption,
        fmt::format("the source '{}' has no element of GStreamer in its place, allowed are video, camera, "
                    "gst, test and synthetic",
                    type));
  }

  /// The branch of a sink; empty where there is none.
  std::string branch_of(const SinkSpec& sink) {
    const std::string whose = fmt::format("the sink '{}'", sink.name);
    const auto file = [&] {
      return "filesink " +
             words_.property("location",
                             (std::filesystem::path(files_.output) / text_of(sink.params, "path")).string());
    };
    const std::string& type = sink.type->name;
    std::string branch;
    if (type == "jsonl") {
      note_left_out(whose, sink.params, {"path"});
      branch = text_of(sink.params, "path") == "-" ? "contornometa2json ! fdsink"
                                                   : "contornometa2json ! " + file();
    } else if (type == "preview") {
      note_left_out(whose, sink.params, {});
      branch = "videoconvert ! autovideosink";
    } else if (type == "video") {
      note_left_out(whose, sink.params, {"path", "codec", "encoder"});
      branch = fmt::format("videoconvert ! {} ! {}", encoding_of(sink.params.as<VideoSinkParams>()), file());
    } else {
      line_.notes.push_back(
          fmt::format("the sink '{}' has no element of GStreamer in its place, and is left out", sink.name));
      return {};
    }
    note_left_out(whose, sink.settings, {});
    if (type != "jsonl") note_other_picture(sink);
    return branch;
  }

  /// Every sink that shows pictures gets what the element draws; notes it where the graph has another picture
  /// for this one.
  void note_other_picture(const SinkSpec& sink) {
    shown_ = true;
    const bool is_drawn = sink.input.node >= 0 &&
                          graph_.nodes[static_cast<std::size_t>(sink.input.node)].type->name == "overlay";
    if (!is_drawn)
      line_.notes.push_back(fmt::format(
          "the sink '{}' takes other pictures in the graph; here it gets what the element draws", sink.name));
  }

  std::string sinks() {
    std::vector<std::string> branches;
    for (const SinkSpec& sink : graph_.sinks)
      if (std::string branch = branch_of(sink); !branch.empty()) branches.push_back(std::move(branch));
    if (branches.empty()) return "fakesink";
    if (branches.size() == 1) return branches[0];
    return fmt::format("tee name=results results. ! queue ! {}", fmt::join(branches, " results. ! queue ! "));
  }

  /// Whether some node takes maps of the source; the graph is not bound to one yet.
  bool takes_maps() const {
    return std::any_of(graph_.nodes.begin(), graph_.nodes.end(), [](const NodeSpec& node) {
      return std::any_of(node.inputs.begin(), node.inputs.end(), [](const Origin& origin) {
        return origin.node == Origin::kSource &&
               (origin.port == Origin::kMaps || origin.port == Origin::kMapsOrFrame);
      });
    });
  }

  const GraphSpec& graph_;
  const GstLineFiles& files_;
  LaunchWords words_;
  GstLine line_;
  bool shown_ = false;
};

}  // namespace

GstLine gst_line(const GraphSpec& graph, const GstLineFiles& files) {
  return LineOfGraph(graph, files).make();
}

}  // namespace contorno
