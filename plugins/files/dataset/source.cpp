#include "plugins/files/dataset/source.h"

#include <fmt/format.h>

#include <cstring>

#include "cuda/error.h"
#include "pipeline/shared/module.h"
#include "plugins/files/arrays/array_file.h"
#include "plugins/files/dataset/files.h"
#include "plugins/shared/playback.h"

namespace contorno {
namespace {

constexpr int kMaxClasses = 256;

enum class MapLayout : std::uint8_t { Undeclared, Chw, Hwc };

struct DatasetParams : Playback {
  std::string location, member;
  MapLayout layout = MapLayout::Undeclared;
  bool frames = true;
  int max_megapixels = static_cast<int>(kDefaultMaxPixels / 1'000'000);
  double rate = 10;
  std::int64_t repeat = 1;
  bool loop = false;
};

class DatasetSource final : public Source {
 public:
  DatasetSource(const DatasetParams& params, FrameDecoder decoder)
      : params_(params),
        decoder_(std::move(decoder)),
        location_(split_array_path(params.location)),
        files_(find_dataset(location_.file, params.frames)) {
    if (files_.has_frames && !decoder_)
      throw Error(ExitCode::Unavailable,
                  fmt::format("'{}' has frames, but this program cannot decode images; set frames: false",
                              params_.location));
    if (location_.member.empty()) location_.member = params_.member;
    open_first();
  }

  const StreamFormat& format() const override { return format_; }

  /// Opens the stream with the first map that has so many, where the first of all has not.
  void expect_classes(int count) override {
    if (format_.maps->channels == count) return;
    std::string ignored;
    for (begin_round(); next_of_round(); skip_file())
      if (prepare(ignored) && next_.maps.channels == count) {
        adopt_format();
        break;
      }
    begin_round();
    count_ = 0;
  }

  ReadResult read(FrameInput& input) override {
    if (!advance()) return ReadResult::End;
    const bool usable = prepared_ || prepare(input.error);
    const std::int64_t pts = time_of_frame(count_, format_);
    if (pacer_.cancelled() || (params_.live && !pacer_.wait_for(pts))) return ReadResult::End;
    input.info.pts_ns = pts;
    input.info.name = files_.items[file_].name();
    input.info.picture = files_.items[file_].frame.filename().string();
    if (!usable) {
      skip_file();
      return ReadResult::Bad;
    }
    if (adopt_format()) return ReadResult::FormatChanged;
    try {
      reader_.read_image(item_, input.maps);
    } catch (const Error& error) {
      input.error = error.what();
      skip_file();
      return ReadResult::Bad;
    }
    if (next_.frame) copy_frame(input.frame);
    // Once a file, with its first item.
    if (item_ == 0 && reader_.header().surplus != 0)
      input.warning = surplus_warning(reader_.header(), reader_.name());
    ++count_;
    next_item();
    return ReadResult::Frame;
  }

  std::vector<std::string> files() const override {
    std::vector<std::string> names;
    for (const DatasetItem& item : files_.items) {
      names.push_back(item.map.string());
      if (!item.frame.empty()) names.push_back(item.frame.string());
    }
    return names;
  }

  void cancel() override { pacer_.cancel(); }

 private:
  /// The format comes from the first frame that is delivered and can be read; the error of the very first
  /// when there is none.
  void open_first() {
    std::string first_error, error;
    for (; next_of_round(); skip_file()) {
      if (prepare(error)) break;
      if (first_error.empty()) first_error = error;
    }
    if (file_ == files_.items.size())
      throw Error(ExitCode::BadData, first_error.empty()
                                         ? fmt::format("'{}': it has no more than the {} frames that 'start' "
                                                       "leaves out",
                                                       params_.location, position_)
                                         : first_error);
    adopt_format();
    set_decimal_rate(format_, params_.rate);
    params_.set_rate(format_);
    if (!params_.loop && (item_count_ == 1 || files_.items.size() == 1))
      format_.frame_count =
          params_.count(static_cast<std::int64_t>(files_.items.size() * item_count_)) * params_.repeat;
    format_.description = fmt::format("dataset '{}': {} map files{}", params_.location, files_.items.size(),
                                      files_.has_frames ? " with frames" : "");
    if (count_ > 0) {  // what could not be read is reported in its turn
      begin_round();
      count_ = 0;
    }
  }

  /// Opens the current file as far as its header.
  bool open_file(std::string& error) {
    if (opened_) return true;
    const DatasetItem& item = files_.items[file_];
    if (item.map.empty()) {
      error = fmt::format("frame '{}' has no map of the same name or number in '{}'", item.frame.string(),
                          files_.map_folder.string());
      return false;
    }
    try {
      const Pages pages = params_.layout == MapLayout::Chw ? Pages::Stack : Pages::Sequence;
      const NpyHeader& header = reader_.open({item.map.string(), location_.member}, pages);
      item_ = 0;
      item_count_ = header.dimensions == 4 ? header.sides[0] : 1;
    } catch (const ModuleError&) {  // of this machine, not of the file
      throw;
    } catch (const Error& caught) {
      error = caught.what();
      return false;
    }
    return opened_ = true;
  }

  /// Reads everything of the current file but the samples: afterwards next_ is its format.
  bool prepare(std::string& error) {
    const DatasetItem& item = files_.items[file_];
    if (!open_file(error)) return false;
    try {
      next_ = {.frame = {}, .maps = maps_format(reader_.header())};
    } catch (const Error& caught) {
      error = caught.what();
      return false;
    }
    if (files_.has_frames && !prepare_frame(item, error)) return false;
    return prepared_ = true;
  }

  ImageFormat maps_format(const NpyHeader& header) const {
    const auto bad = [&](std::string_view what) {
      return Error(ExitCode::BadData, fmt::format("'{}' ({}) {}", reader_.name(), describe(header), what));
    };
    auto shape = header.shape();
    if (shape.size() < 2 || shape.size() > 4)
      throw bad("has no map's shape, allowed are 2 sides (one class), 3 (classes) and 4 (a sequence)");
    if (shape.size() > 2 && params_.layout == MapLayout::Undeclared)
      throw bad("can be read in two ways; declare layout: chw or layout: hwc");
    if (shape.size() == 4) shape = shape.subspan(1);
    const bool planar = params_.layout != MapLayout::Hwc;
    const std::uint64_t channels = shape.size() == 2 ? 1 : shape[planar ? 0 : 2];
    const std::uint64_t height = shape[shape.size() == 3 && planar ? 1 : 0];
    const std::uint64_t width = shape[shape.size() == 3 && planar ? 2 : 1];
    if (width < 1 || height < 1 || width > kMaxSide || height > kMaxSide)
      throw bad(fmt::format("has sides of {} x {}, allowed are 1 to {} px", width, height, kMaxSide));
    if (channels < 1 || channels > kMaxClasses)
      throw bad(fmt::format("has {} classes when read as {}, allowed are 1 to {}; is the layout right?",
                            channels, planar ? "chw" : "hwc", kMaxClasses));
    if (header.dimensions == 4 && (header.sides[0] == 0 || header.fortran))
      throw bad("is a sequence that is empty or in Fortran order, allowed is C order");
    return {.width = static_cast<int>(width),
            .height = static_cast<int>(height),
            .channels = static_cast<int>(channels),
            .type = header.type == ElementType::F64 ? ElementType::F32 : header.type,
            .layout = planar ? Layout::Planar : Layout::Interleaved};
  }

  bool prepare_frame(const DatasetItem& item, std::string& error) {
    if (item.frame.empty()) {
      error = fmt::format("map '{}' has no frame of the same name or number in '{}'", item.map.string(),
                          files_.frame_folder.string());
      return false;
    }
    if (item_count_ != 1) {
      error = fmt::format("'{}' is a sequence of {} maps, but frame '{}' is one; store a file a frame",
                          item.map.string(), item_count_, item.frame.string());
      return false;
    }
    const auto most = static_cast<std::uint64_t>(params_.max_megapixels) * 1'000'000;
    if (!decoder_(item.frame.string(), most, pixels_, error)) return false;
    next_.frame = ImageFormat{.width = pixels_.width, .height = pixels_.height, .channels = kPictureChannels};
    // The map covers the whole frame, whatever its resolution.
    next_.maps.placement = {.scale_x = static_cast<double>(pixels_.width) / next_.maps.width,
                            .scale_y = static_cast<double>(pixels_.height) / next_.maps.height};
    return true;
  }

  /// True when the prepared file has another format than the stream had so far.
  bool adopt_format() {
    if (format_.frame == next_.frame && format_.maps == next_.maps) return false;
    format_.frame = next_.frame;
    format_.maps = next_.maps;
    return true;
  }

  void copy_frame(const ImageView& frame) const {
    const std::size_t row_bytes = frame.format.row_bytes();
    for (int y = 0; y < frame.format.height; ++y)
      std::memcpy(frame.row<std::uint8_t>(y), pixels_.pixels.data() + static_cast<std::size_t>(y) * row_bytes,
                  row_bytes);
  }

  void next_file() {
    ++file_;
    opened_ = prepared_ = false;
  }
  void next_item() {
    ++position_;
    if (++item_ == item_count_) next_file();
  }
  void skip_file() {  // a bad file takes its turn, so that the times of the others stay
    ++count_;
    ++position_;
    next_file();
  }
  void begin_round() {
    file_ = 0;
    position_ = 0;
    opened_ = prepared_ = false;
  }

  /// To the next frame of this round that is to be delivered; false when there is none.
  bool next_of_round() {
    std::string ignored;
    while (file_ < files_.items.size() && !params_.takes(position_)) {
      if (open_file(ignored)) {
        next_item();
      } else {
        ++position_;
        next_file();
      }
    }
    return file_ < files_.items.size();
  }

  /// The same, in another round where there is one; false at the end.
  bool advance() {
    if (next_of_round()) return true;
    if (!params_.loop && ++round_ >= params_.repeat) {
      round_ = params_.repeat;  // stays the end, however often it is asked
      return false;
    }
    begin_round();
    return next_of_round();
  }

  struct ItemFormat {
    std::optional<ImageFormat> frame;
    ImageFormat maps;
  };

  const DatasetParams params_;
  const FrameDecoder decoder_;
  ArrayPath location_;  ///< with the member that is read of every archive
  const DatasetFiles files_;
  StreamFormat format_;
  ArrayReader reader_;
  Picture pixels_;
  ItemFormat next_;        ///< of the current file, once prepared
  bool opened_ = false;    ///< the current file's header was read
  bool prepared_ = false;  ///< and its frame decoded
  std::size_t file_ = 0;
  std::uint64_t item_ = 0, item_count_ = 1;  ///< within the file
  std::int64_t position_ = 0;                ///< of the current item, in the round
  std::uint64_t count_ = 0;                  ///< frames offered, over all rounds
  std::int64_t round_ = 0;
  Pacer pacer_;
};

}  // namespace

SourceType dataset_source(FrameDecoder decoder) {
  ParamList<DatasetParams> list;
  list.required_text(
      "location", &DatasetParams::location,
      "Folder with maps/* (or maps in itself) and frames/*, or one file of maps: .npy, .npz or "
      ".tif; FILE.npz:NAME names an array of an archive.");
  list.text("member", &DatasetParams::member,
            "Array that is read of every .npz archive; empty where each has one only.");
  list.choice(
      "layout", &DatasetParams::layout,
      {{"undeclared", MapLayout::Undeclared}, {"chw", MapLayout::Chw}, {"hwc", MapLayout::Hwc}},
      "Order of the sides in a file: classes first or last; needed unless files have two sides. The pages of "
      "a .tif are classes with chw, frames with hwc.");
  list.flag("frames", &DatasetParams::frames, "Whether the frames beside the maps are read.");
  list.integer("max_megapixels", &DatasetParams::max_megapixels, 1, 268, Unit::None,
               "Larger frames are refused before memory is taken for them.");
  list.number("rate", &DatasetParams::rate, 0.001, 100000, Unit::PerSecond,
              "Frames a second, which gives the frames their times.");
  list.integer("repeat", &DatasetParams::repeat, 1, 1000000000, Unit::None,
               "How many times all files are played.");
  list.flag("loop", &DatasetParams::loop, "Play for ever.");
  add_playback(list);
  return {
      .name = "dataset",
      .summary =
          "Reads class maps from .npy, .npz and .tif files, with the frames that belong to them; float64 "
          "becomes float32.",
      .params = declare(std::move(list)),
      .input_param = "location",
      .example = "source:\n  type: dataset\n  location: maps\n  layout: hwc\n",
      .make = [decoder = std::move(decoder)](const ParamSet& params) -> std::unique_ptr<Source> {
        return std::make_unique<DatasetSource>(params.as<DatasetParams>(), decoder);
      },
  };
}

}  // namespace contorno
