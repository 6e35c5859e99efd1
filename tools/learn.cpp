// contorno learn: reference colours for the classify stage from example frames, as a graph that can be run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "config/load.h"
#include "config/yaml_text.h"
#include "cuda/error.h"
#include "cuda/memory.h"
#include "tools/apply_files.h"
#include "tools/commands.h"
#include "tools/learn_colours.h"
#include "tools/text_file.h"

namespace contorno {
namespace {

namespace fs = std::filesystem;

struct LearnArguments {
  std::string frames, masks, output = "colours.yaml";
  std::vector<std::string> classes, hidden;
  int frame_limit = 16;
  LearnParams params;
};

constexpr int kSamples = 4000;  // a class; without masks, of all

/// Folder, glob or picture: the source images; else a video.
const char* source_name(const std::string& frames) {
  static constexpr std::array<const char*, 8> kPictures{".png", ".jpg",  ".jpeg", ".bmp",
                                                        ".tif", ".tiff", ".webp", ".pnm"};
  std::string extension = fs::path(frames).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  const bool picture = std::find(kPictures.begin(), kPictures.end(), extension) != kPictures.end();
  return picture || frames.find_first_of("*?[") != std::string::npos || fs::is_directory(frames) ? "images"
                                                                                                 : "video";
}

/// The mask of a frame: the same name, also with _labels or _mask behind it, or in place of _image.
std::string mask_of(const fs::path& folder, const std::string& frame) {
  const std::string stem = fs::path(frame).stem().string();
  std::vector<std::string> names{stem + "_labels", stem + "_mask", stem};
  if (stem.ends_with("_image")) names.insert(names.begin(), stem.substr(0, stem.size() - 6) + "_labels");
  for (const std::string& name : names)
    for (const char* extension : {".png", ".npy", ".bmp", ".tif"})
      if (const fs::path path = folder / (name + extension); fs::exists(path)) return path.string();
  return "";
}

class Sampler {
 public:
  Sampler(const LearnArguments& arguments, int frames)
      : arguments_(arguments), frames_(std::max(1, frames)), pixels_(arguments.classes.size()) {}

  void take(const ImageView& frame, const std::string& name) {
    LoadedImage mask;
    if (!arguments_.masks.empty()) {
      const std::string path = mask_of(arguments_.masks, name);
      if (path.empty()) {
        fmt::print(stderr, "contorno: no mask for {} in {}, the frame is left out\n", name, arguments_.masks);
        return;
      }
      mask = load_image(path, Layout::Interleaved, PictureChannels::Auto);
      const ImageFormat& format = mask.view.format;
      if (format.width != frame.format.width || format.height != frame.format.height ||
          format.type != ElementType::U8)
        throw Error(ExitCode::BadData,
                    fmt::format("{}: the mask is {}, wanted {}x{} uint8 as the frame", path, describe(format),
                                frame.format.width, frame.format.height));
    }
    const auto owner = [&](int x, int y) -> int {
      if (mask.memory.empty()) return -1;
      const int value = mask.view.row<const std::uint8_t>(y)[x * mask.view.format.channels];
      return value < static_cast<int>(arguments_.classes.size()) ? value : -2;
    };
    take_evenly(frame, owner);
    ++taken_;
  }

  const std::vector<ColourSample>& samples() const { return samples_; }
  const std::vector<double>& pixels() const { return pixels_; }
  int taken() const { return taken_; }

 private:
  /// Every n-th pixel of a class, such that all classes give about as many, however small they are.
  template <class Owner>
  void take_evenly(const ImageView& frame, const Owner& owner) {
    const std::size_t groups = arguments_.masks.empty() ? 1 : pixels_.size();
    const auto group_of = [&](int x, int y) {
      const int value = owner(x, y);
      return value == -2 ? groups : static_cast<std::size_t>(std::max(value, 0));
    };
    std::vector<std::int64_t> counts(groups + 1), seen(groups + 1);
    for (int y = 0; y < frame.format.height; ++y)
      for (int x = 0; x < frame.format.width; ++x)
        if (!is_transparent(frame, x, y)) ++counts[group_of(x, y)];
    const std::int64_t quota = std::max(1, kSamples / frames_);
    for (int y = 0; y < frame.format.height; ++y)
      for (int x = 0; x < frame.format.width; ++x) {
        const std::size_t group = group_of(x, y);
        if (group == groups || is_transparent(frame, x, y)) continue;
        // A step that no row length is likely to share keeps the samples from falling into columns.
        const std::int64_t step = std::max<std::int64_t>(1, counts[group] / quota) | 1;
        if (seen[group]++ % step != 0) continue;
        const auto* at =
            frame.row<const std::uint8_t>(y) + static_cast<std::ptrdiff_t>(x) * frame.format.channels;
        const bool grey = frame.format.channels < 3;
        samples_.push_back({{at[0], at[grey ? 0 : 1], at[grey ? 0 : 2]},
                            arguments_.masks.empty() ? -1 : static_cast<int>(group)});
      }
    for (std::size_t k = 0; k < std::min(groups, pixels_.size()); ++k)
      pixels_[k] += static_cast<double>(counts[k]);
  }
  static bool is_transparent(const ImageView& frame, int x, int y) {
    return frame.format.channels == 4 && frame.row<const std::uint8_t>(y)[4 * x + 3] == 0;
  }

  const LearnArguments& arguments_;
  int frames_;
  std::vector<ColourSample> samples_;
  std::vector<double> pixels_;
  int taken_ = 0;
};

/// Calls use(frame, info) for at most `limit` frames, spread over all where their number is known.
template <class Use>
void for_frames(const std::string& location, const Catalog& catalog, int limit, const Use& use) {
  const SourceType* type = catalog.source(source_name(location));
  if (type == nullptr)
    throw Error(ExitCode::Unavailable,
                "learn: this program was built without media; install GStreamer and build again");
  ParamSet params(type->params);
  params.set(type->input_param, location);
  const std::unique_ptr<Source> source = type->make(params);
  const std::int64_t count = source->format().frame_count;
  const std::int64_t step = count > limit ? count / limit : 1;
  Block memory;
  std::int64_t number = 0;
  for (int used = 0; used < limit;) {
    FrameInput input;
    if (!source->format().frame) throw Error(ExitCode::BadData, "learn: the input has no frames");
    const ImageFormat& format = *source->format().frame;
    if (memory.size() < packed_bytes(format)) memory = Block(packed_bytes(format), MemoryKind::Host);
    input.frame = packed_view(memory.data(), format);
    const ReadResult result = source->read(input);
    if (result == ReadResult::End) break;
    if (result == ReadResult::Bad) fmt::print(stderr, "contorno: {}\n", input.error);
    if (result != ReadResult::Frame || number++ % step != 0) continue;
    use(input.frame, input.info, static_cast<int>(std::min<std::int64_t>(limit, count > 0 ? count : limit)));
    ++used;
  }
}

std::string graph_text(const LearnArguments& arguments, const LearnedColours& learned) {
  using config::yaml_text;
  const char* source = source_name(arguments.frames);
  const bool video = std::string_view(source) == "video";
  std::string text = fmt::format(
      "# Proposed by contorno learn: look at the references, rename and regroup them, then run\n"
      "#   contorno run {} --output .\n"
      "source: {{type: {}, location: {}}}\n\n"
      "# Each class is the set of colours near its references; the share is that of the pixels that were "
      "seen.\n"
      "classes:\n",
      fs::path(arguments.output).filename().string(), source,
      yaml_text(fs::absolute(arguments.frames).string()));
  for (const LearnedClass& one : learned.classes) {
    std::string list;
    for (const Colour& colour : one.references)
      list += fmt::format("{}\"#{:02x}{:02x}{:02x}\"", list.empty() ? "" : ", ", colour.red, colour.green,
                          colour.blue);
    text += fmt::format("  - name: {}  # {:.1f} %{}\n", yaml_text(one.name), 100 * one.share,
                        arguments.masks.empty()
                            ? ""
                            : fmt::format("; {:.0f} % of its samples lie nearest to it", 100 * one.recall));
    if (one.hidden) text += "    hidden: true\n";
    text += fmt::format("    references: [{}]\n", list);
  }
  text += fmt::format(
      "\nstages:\n  - type: classify\n    lightness: {:.3g}\n    softness: {:.3f}\n    rest: 0               "
      "  # every pixel "
      "belongs to some class\n    smooth: 2\n  - type: marching_squares\n  - type: contour_assembly\n    "
      "min_points: 20\n"
      "  - type: overlay\n    legend: top_left\n\nsinks:\n",
      arguments.params.lightness, learned.softness);
  text += video ? "  - {type: video, path: overlay.webm}\n"
                : "  - {type: images, path: \"overlay/{name}.png\"}\n";
  return text + "  - {type: jsonl, path: contours.jsonl}\n";
}

int learn(const LearnArguments& arguments, const Catalog& catalog) {
  if (!arguments.masks.empty() && !fs::is_directory(arguments.masks))
    throw Error(ExitCode::MissingInput, fmt::format("learn: there is no folder {}", arguments.masks));
  if (std::set<std::string>(arguments.classes.begin(), arguments.classes.end()).size() !=
      arguments.classes.size())
    throw Error(ExitCode::Usage, "--classes has a name twice");
  std::unique_ptr<Sampler> sampler;
  for_frames(arguments.frames, catalog, arguments.frame_limit,
             [&](const ImageView& frame, const FrameInfo& info, int frames) {
               if (!sampler) sampler = std::make_unique<Sampler>(arguments, frames);
               sampler->take(frame, info.name);
             });
  if (!sampler || sampler->taken() == 0)
    throw Error(ExitCode::BadData, fmt::format("learn: {} gave no frame{} to learn from", arguments.frames,
                                               arguments.masks.empty() ? "" : " with a mask"));
  LearnedColours learned =
      learn_colours(sampler->samples(), arguments.classes,
                    arguments.masks.empty() ? std::vector<double>{} : sampler->pixels(), arguments.params);
  for (LearnedClass& one : learned.classes)
    one.hidden =
        std::find(arguments.hidden.begin(), arguments.hidden.end(), one.name) != arguments.hidden.end();
  const std::string text = graph_text(arguments, learned);
  config::load_graph_text(text, arguments.output, catalog);  // what is written can be read
  write_text_file(arguments.output, text);
  for (const LearnedClass& one : learned.classes) {
    fmt::print("{:16} {:5.1f} %  ", one.name, 100 * one.share);
    for (const Colour& colour : one.references)
      fmt::print(" #{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
    fmt::print("{}\n", arguments.masks.empty()
                           ? ""
                           : fmt::format("   {:.0f} % of its samples lie nearest to it", 100 * one.recall));
  }
  fmt::print("{} samples of {} frames; wrote {}\n", sampler->samples().size(), sampler->taken(),
             arguments.output);
  return static_cast<int>(ExitCode::Ok);
}

}  // namespace

void add_learn_command(CLI::App& app, const Catalog& catalog, Action& action) {
  auto arguments = std::make_shared<LearnArguments>();
  LearnParams& params = arguments->params;
  CLI::App* command =
      app.add_subcommand("learn", "Propose reference colours for classes from example frames, as a graph");
  command->add_option("FRAMES", arguments->frames, "Picture, folder, glob or video with examples")
      ->required();
  command
      ->add_option("--classes", arguments->classes,
                   "Names, by commas. With masks in the order of the masks' values; without, "
                   "the most frequent colours first")
      ->required()
      ->delimiter(',');
  command->add_option("--masks", arguments->masks,
                      "Folder of masks: NAME.png, NAME_labels.png or .npy for each frame NAME; value k "
                      "= class k, from 0; other values are left out");
  command->add_option("--hidden", arguments->hidden, "Classes that are found but not drawn, by commas")
      ->delimiter(',');
  command->add_option("-o,--output", arguments->output, "Graph to write")->capture_default_str();
  command->add_option("--frames", arguments->frame_limit, "Most frames to look at, spread over all")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command
      ->add_option("--sigma", params.sigma,
                   "Width of the kernel in oklab: colours nearer than that gather in one reference. "
                   "Without masks it shrinks until there are enough")
      ->check(CLI::Range(1e-3, 1.0))
      ->capture_default_str();
  command->add_option("--references", params.references, "Most references a class")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command
      ->add_option("--min-share", params.min_share,
                   "Share of a class's pixels (without masks: of all) that a reference must stand for")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->callback([arguments, &catalog, &action] {
    action = [arguments, &catalog] { return learn(*arguments, catalog); };
  });
}

}  // namespace contorno
