#include "plugins/files/dataset/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "plugins/files/dataset/item_reader.h"
#include "plugins/shared/playback.h"

namespace contorno {
namespace {

struct DatasetParams : Playback {
  std::string location, member, camera;
  MapLayout layout = MapLayout::Undeclared;
  bool frames = true;
  int max_megapixels = static_cast<int>(kDefaultMaxPixels / 1'000'000);
  double rate = 10;
  std::int64_t repeat = 1;
  bool loop = false;

  ItemOptions items(const ArrayPath& path) const {
    return {.layout = layout,
            .member = path.member.empty() ? member : path.member,
            .max_pixels = static_cast<std::uint64_t>(max_megapixels) * 1'000'000};
  }
};

/// When the frames of a manifest were recorded, counted from the earliest one.
class RecordedTimes {
 public:
  /// `rate`, in frames a second, is for a manifest whose times have no mean interval.
  RecordedTimes(const DatasetFiles& files, double rate) : rate_(rate) {
    if (!files.has_times) return;
    std::int64_t last = 0, count = 0;
    for (const DatasetItem& item : files.items) {
      if (!item.time_ns) continue;
      earliest_ = std::min(earliest_.value_or(*item.time_ns), *item.time_ns);
      last = std::max(last, *item.time_ns);
      ++count;
    }
    const std::int64_t length = last - *earliest_;
    if (length > 0) rate_ = static_cast<double>(count - 1) * 1e9 / static_cast<double>(length);
    const std::int64_t interval = length > 0 ? length / (count - 1) : static_cast<std::int64_t>(1e9 / rate);
    round_ = std::min(length, kLatest - interval) + interval;
  }

  bool are_known() const { return earliest_.has_value(); }
  double rate() const { return rate_; }
  /// The time of an item that has one; a round begins one mean interval after the last frame of the one
  /// before.
  std::int64_t of(const DatasetItem& item, std::int64_t round) const {
    const std::int64_t in_round = std::min(*item.time_ns - *earliest_, kLatest);
    return round > (kLatest - in_round) / round_ ? kLatest : in_round + round * round_;
  }

 private:
  /// Where times stop in a replay that goes on for centuries.
  static constexpr std::int64_t kLatest = kLatestTime;

  std::optional<std::int64_t> earliest_;
  double rate_;
  std::int64_t round_ = 1;
};

class DatasetSource final : public Source {
 public:
  DatasetSource(const DatasetParams& params, FrameDecoder decoder)
      : params_(params),
        location_(split_array_path(params.location)),
        files_(find_dataset(location_.file, {.frames = params.frames, .camera = params.camera})),
        times_(files_, params.rate),
        reader_(files_, params.items(location_), decoder) {
    if (!params.camera.empty() && files_.manifest.empty())
      throw Error(ExitCode::BadConfig,
                  fmt::format("'{}' is no manifest, and camera names entries of one", params_.location));
    if (files_.has_frames && !decoder)
      throw Error(ExitCode::Unavailable,
                  fmt::format("'{}' has frames, but this program cannot decode images; set frames: false",
                              params_.location));
    open_first();
  }

  const StreamFormat& format() const override { return format_; }

  /// Opens the stream with the first map that has so many, where the first of all has not.
  void expect_classes(int count) override {
    if (!format_.maps || format_.maps->channels == count) return;
    std::string ignored;
    for (begin_round(); next_of_round(); skip_item())
      if (reader_.prepare(item(), ignored) && reader_.formats().maps->channels == count) {
        adopt_format();
        break;
      }
    begin_round();
    count_ = 0;
  }

  ReadResult read(FrameInput& input) override {
    if (!advance()) return ReadResult::End;
    const bool usable = reader_.is_prepared() || reader_.prepare(item(), input.error);
    const std::int64_t pts = time_of_item();
    if (pacer_.cancelled() || (params_.live && !pacer_.wait_for(pts))) return ReadResult::End;
    input.info.pts_ns = pts;
    input.info.name = item().name();
    input.info.picture = item().frame.filename().string();
    if (!usable) {
      skip_item();
      return ReadResult::Bad;
    }
    if (adopt_format()) return ReadResult::FormatChanged;
    try {
      reader_.read(index_, input);
    } catch (const Error& error) {
      input.error = error.what();
      ++count_;
      next_frame();  // others of a sequence may be whole
      return ReadResult::Bad;
    }
    ++count_;
    next_frame();
    return ReadResult::Frame;
  }

  std::vector<std::string> files() const override {
    std::vector<std::string> names;
    for (const DatasetItem& item : files_.items)
      for (const auto& file : {item.map, item.frame, item.truth})
        if (!file.empty()) names.push_back(split_array_path(file.string()).file);
    if (!files_.manifest.empty()) names.push_back(files_.manifest.string());
    return names;
  }

  void cancel() override { pacer_.cancel(); }

 private:
  const DatasetItem& item() const { return files_.items[at_]; }

  /// The format comes from the first frame that is delivered and can be read; the error of the very first
  /// when there is none.
  void open_first() {
    std::string first_error, error;
    for (; next_of_round(); skip_item()) {
      if (reader_.prepare(item(), error)) break;
      if (first_error.empty()) first_error = error;
    }
    if (at_ == files_.items.size())
      throw Error(ExitCode::BadData, first_error.empty()
                                         ? fmt::format("'{}': it has no more than the {} frames that 'start' "
                                                       "leaves out",
                                                       params_.location, position_)
                                         : first_error);
    adopt_format();
    set_decimal_rate(format_, std::clamp(times_.rate(), 0.001, 100'000.0));
    params_.set_rate(format_);
    if (!params_.loop && (reader_.frames() == 1 || files_.items.size() == 1)) {
      const std::int64_t once =
          params_.count(static_cast<std::int64_t>(files_.items.size() * reader_.frames()));
      if (__builtin_mul_overflow(once, params_.repeat, &format_.frame_count))
        format_.frame_count = std::numeric_limits<std::int64_t>::max();
    }
    format_.description = fmt::format("dataset '{}': {} {}{}", params_.location, files_.items.size(),
                                      files_.has_maps ? "map files" : "frames",
                                      files_.has_maps && files_.has_frames ? " with frames" : "");
    if (count_ > 0) {  // what could not be read is reported in its turn
      begin_round();
      count_ = 0;
    }
  }

  /// An entry that cannot be read has the time of the frame before it.
  std::int64_t time_of_item() {
    if (!times_.are_known()) return time_of_frame(count_, format_);
    if (item().time_ns) last_time_ = times_.of(item(), round_);
    return last_time_;
  }

  /// True when the prepared item has another format than the stream had so far.
  bool adopt_format() {
    const ItemReader::Formats& next = reader_.formats();
    if (format_.frame == next.frame && format_.maps == next.maps) return false;
    format_.frame = next.frame;
    format_.maps = next.maps;
    return true;
  }

  void next_item() {
    ++at_;
    index_ = 0;
    reader_.close();
  }
  void next_frame() {
    ++position_;
    if (++index_ == reader_.frames()) next_item();
  }
  void skip_item() {  // a bad one takes its turn, so that the times of the others stay
    ++count_;
    ++position_;
    next_item();
  }
  void begin_round() {
    at_ = 0;
    index_ = 0;
    position_ = 0;
    reader_.close();
  }

  /// Moves to the next frame of this round that is to be delivered; false when there is none.
  bool next_of_round() {
    std::string ignored;
    while (at_ < files_.items.size() && !params_.takes(position_)) {
      if (reader_.open(item(), ignored)) {
        next_frame();
      } else {
        ++position_;
        next_item();
      }
    }
    return at_ < files_.items.size();
  }

  /// Moves to the next frame, in the next round where this one has no more; false at the end.
  bool advance() {
    if (next_of_round()) return true;
    if (++round_ >= params_.repeat && !params_.loop) {
      round_ = params_.repeat;  // stays the end, however often it is asked
      return false;
    }
    begin_round();
    return next_of_round();
  }

  const DatasetParams params_;
  const ArrayPath location_;
  const DatasetFiles files_;
  const RecordedTimes times_;
  StreamFormat format_;
  ItemReader reader_;
  std::size_t at_ = 0;         ///< index of the current item
  std::uint64_t index_ = 0;    ///< index of the frame within the item
  std::int64_t position_ = 0;  ///< number of the frame in the round
  std::uint64_t count_ = 0;    ///< frames offered, over all rounds
  std::int64_t round_ = 0, last_time_ = 0;
  Pacer pacer_;
};

}  // namespace

SourceType dataset_source(FrameDecoder decoder) {
  ParamList<DatasetParams> list;
  list.required_text(
      "location", &DatasetParams::location,
      "Folder with maps/* (or maps in itself) and frames/*, one file of maps (.npy, .npz, .tif, .h5, "
      ".mat or .zarr; FILE.npz:NAME, FILE.h5:GROUP/NAME, FILE.mat:NAME and FILE.zarr:GROUP/NAME name one of "
      "several), or a manifest (.csv or .jsonl) of frames and maps.");
  list.text("member", &DatasetParams::member,
            "Array that is read of every .npz, .h5, .mat and .zarr; empty where each has one only.");
  list.choice(
      "layout", &DatasetParams::layout,
      {{"undeclared", MapLayout::Undeclared},
       {"chw", MapLayout::Chw},
       {"hwc", MapLayout::Hwc},
       {"auto", MapLayout::Auto}},
      "Order of the sides in a file: classes first or last, or auto: the shorter one of both is theirs; "
      "needed unless files have two sides or are .tif with bands. The pages of a .tif are classes with chw, "
      "else frames.");
  list.flag("frames", &DatasetParams::frames, "Whether the frames beside the maps are read.");
  list.text("camera", &DatasetParams::camera,
            "Of a manifest with a column of cameras: the frames of this one alone; empty takes all.");
  list.integer("max_megapixels", &DatasetParams::max_megapixels, 1, 268, Unit::None,
               "Larger frames are refused before memory is taken for them.");
  list.number("rate", &DatasetParams::rate, 0.001, 100000, Unit::PerSecond,
              "Frames a second, which gives the frames their times where no manifest does.");
  list.integer("repeat", &DatasetParams::repeat, 1, 1000000000, Unit::None,
               "How many times all files are played.");
  list.flag("loop", &DatasetParams::loop, "Play for ever.");
  add_playback(list);
  return {
      .name = "dataset",
      .summary =
          "Reads class maps from .npy, .npz, .tif, .h5, .mat and .zarr, with the frames that belong to them; "
          "float64 becomes float32.",
      .params = declare(std::move(list)),
      .input_param = "location",
      .example = "source:\n  type: dataset\n  location: maps\n  layout: hwc\n",
      .make = [decoder = std::move(decoder)](const ParamSet& params) -> std::unique_ptr<Source> {
        return std::make_unique<DatasetSource>(params.as<DatasetParams>(), decoder);
      },
  };
}

}  // namespace contorno
