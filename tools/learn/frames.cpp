#include "tools/learn/frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "config/describe.h"
#include "pipeline/graph/applied.h"
#include "plugins/files/shared/file_names.h"
#include "tools/apply_files.h"
#include "tools/say.h"

namespace contorno {
namespace {

namespace fs = std::filesystem;

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

class ExampleReader {
 public:
  ExampleReader(const ExampleRequest& request, std::int64_t frame_count)
      : request_(request),
        step_(frame_count > request.limit ? frame_count / request.limit : 1),
        expected_(static_cast<int>(
            std::min<std::int64_t>(request.limit, frame_count > 0 ? frame_count : request.limit))),
        sampler_(frames_of_classes(), expected_),
        found_(request.picks.size()) {}

  /// Whether a later frame may still be wanted.
  bool wants_more() const {
    return spread_ < request_.limit || std::find(found_.begin(), found_.end(), false) != found_.end();
  }

  void take(const ImageView& frame, const FrameInfo& info) {
    std::vector<Pick> picks;
    for (std::size_t i = 0; i < request_.picks.size(); ++i) {
      if (!lies_on(request_.picks[i], info)) continue;
      check_lies_within(request_.picks[i], frame.format.width, frame.format.height);
      picks.push_back(request_.picks[i]);
      found_[i] = true;
    }
    const bool in_turn = static_cast<std::int64_t>(info.number) % step_ == 0 && spread_ < request_.limit;
    if (!in_turn && picks.empty()) return;
    const std::vector<std::int16_t> owners = owners_of(frame, info, picks);
    if (owners.empty()) return;
    sampler_.take(frame, owners);
    keep(frame, info, std::move(picks));
    ++looked_at_;
    if (in_turn) ++spread_;
  }

  /// The frames with picks, and as many of the others as there is room for, spread evenly.
  ExampleFrames finish() {
    for (std::size_t i = 0; i < found_.size(); ++i)
      if (!found_[i])
        throw Error(ExitCode::BadOption,
                    fmt::format("--pick {}: {} has no frame '{}'", request_.picks[i].text, request_.location,
                                request_.picks[i].frame));
    std::erase_if(kept_, [&](const ExampleFrame& frame) {
      return frame.picks.empty() && without_picks_-- > ExampleFrames::kMostKept - with_picks_;
    });
    return {.samples = sampler_.samples(), .kept = std::move(kept_), .looked_at = looked_at_};
  }

 private:
  std::vector<int> frames_of_classes() const {
    std::vector<int> frames(request_.classes.size(), expected_);
    if (request_.picks.empty()) return frames;
    for (std::size_t k = 0; k < frames.size(); ++k) {
      std::set<std::string> of_class;
      for (const Pick& pick : request_.picks)
        if (pick.name == request_.classes[k]) of_class.insert(pick.frame);
      frames[k] = static_cast<int>(of_class.size());
    }
    return frames;
  }

  /// The class of each pixel by picks or mask; empty where the frame's mask is missing.
  std::vector<std::int16_t> owners_of(const ImageView& frame, const FrameInfo& info,
                                      const std::vector<Pick>& picks) const {
    const auto width = static_cast<std::size_t>(frame.format.width);
    std::vector<std::int16_t> owners(width * static_cast<std::size_t>(frame.format.height), kRest);
    const auto mark = [&](int left, int top, int right, int bottom, std::int16_t owner) {
      for (int y = std::max(0, top); y < std::min(frame.format.height, bottom); ++y)
        for (int x = std::max(0, left); x < std::min(frame.format.width, right); ++x)
          owners[static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x)] = owner;
    };
    for (const Pick& pick : picks)
      mark(pick.x - pick.width, pick.y - pick.height, pick.x + 2 * pick.width, pick.y + 2 * pick.height,
           kAroundPick);
    for (const Pick& pick : picks) {
      const auto name = std::find(request_.classes.begin(), request_.classes.end(), pick.name);
      mark(pick.x, pick.y, pick.x + pick.width, pick.y + pick.height,
           static_cast<std::int16_t>(name - request_.classes.begin()));
    }
    if (!request_.masks.empty() && !read_mask(frame.format, info.name, owners)) owners.clear();
    return owners;
  }

  bool read_mask(const ImageFormat& frame, const std::string& name, std::vector<std::int16_t>& owners) const {
    const std::string path = mask_of(request_.masks, name);
    if (path.empty()) {
      warn(fmt::format("no mask for {} in {}, the frame is left out", name, request_.masks));
      return false;
    }
    const LoadedImage mask = load_image(path, Layout::Interleaved, PictureChannels::Auto);
    const ImageFormat& format = mask.view.format;
    if (format.width != frame.width || format.height != frame.height || format.type != ElementType::U8)
      throw Error(ExitCode::BadData, fmt::format("{}: the mask is {}, wanted {}x{} uint8 as the frame", path,
                                                 describe(format), frame.width, frame.height));
    auto owner = owners.begin();
    for (int y = 0; y < format.height; ++y)
      for (int x = 0; x < format.width; ++x, ++owner) {
        const int value = mask.view.row<const std::uint8_t>(y)[x * format.channels];
        *owner =
            value < static_cast<int>(request_.classes.size()) ? static_cast<std::int16_t>(value) : kLeftOut;
      }
    return true;
  }

  void keep(const ImageView& frame, const FrameInfo& info, std::vector<Pick> picks) {
    std::size_t& count = picks.empty() ? without_picks_ : with_picks_;
    constexpr int kMost = static_cast<int>(ExampleFrames::kMostKept);
    const int every = (expected_ + kMost - 1) / kMost;
    if (count >= ExampleFrames::kMostKept || (picks.empty() && spread_ % every != 0)) return;
    ++count;
    ExampleFrame kept{.memory = Block(packed_bytes(frame.format), MemoryKind::Host), .info = info};
    kept.view = packed_view(kept.memory.data(), frame.format);
    copy_image(frame, kept.view);
    kept.picks = std::move(picks);
    kept_.push_back(std::move(kept));
  }

  const ExampleRequest& request_;
  std::int64_t step_;
  int expected_, spread_ = 0, looked_at_ = 0;
  ColourSampler sampler_;
  std::vector<bool> found_;  // a pick: its frame was there
  std::vector<ExampleFrame> kept_;
  std::size_t with_picks_ = 0, without_picks_ = 0;
};

}  // namespace

const char* example_source_name(const std::string& location) {
  // An address may end like a picture's name, and its query begins with a letter of patterns.
  if (location.find("://") != std::string::npos) return "video";
  const bool film = lower_extension(location) == ".gif";
  const bool picture = has_picture_extension(location) && !film;
  std::error_code ignored;
  if (picture || fs::is_directory(location, ignored)) return "images";
  // A file may have letters of a pattern in its name.
  const bool pattern = location.find_first_of("*?[") != std::string::npos;
  return pattern && !fs::exists(location, ignored) ? "images" : "video";
}

ExampleFrames read_examples(const ExampleRequest& request, const Catalog& catalog) {
  const SourceType& type = config::source_called(catalog, example_source_name(request.location));
  ParamSet params(type.params);
  params.set(type.input_param, request.location);
  const std::unique_ptr<Source> source = type.make(params);
  ExampleReader reader(request, source->format().frame_count);
  Block memory;
  for (std::uint64_t number = 0; reader.wants_more();) {
    if (!source->format().frame) throw Error(ExitCode::BadData, "learn: the input has no frames");
    const ImageFormat& format = *source->format().frame;
    if (memory.size() < packed_bytes(format)) memory = Block(packed_bytes(format), MemoryKind::Host);
    FrameInput input;
    input.frame = packed_view(memory.data(), format);
    const ReadResult result = source->read(input);
    if (result == ReadResult::End) break;
    if (result == ReadResult::FormatChanged) continue;
    // A frame that failed has a number too, as in a run.
    input.info.number = number++;
    if (result == ReadResult::Bad)
      warn(input.error);
    else
      reader.take(input.frame, input.info);
  }
  for (const SourceFault& fault : source->faults()) warn(fault.sentence);
  ExampleFrames examples = reader.finish();
  examples.files = source->files();
  std::error_code ignored;
  if (!request.masks.empty())
    for (const fs::directory_entry& mask : fs::directory_iterator(request.masks, ignored))
      examples.files.push_back(mask.path().string());
  return examples;
}

}  // namespace contorno
