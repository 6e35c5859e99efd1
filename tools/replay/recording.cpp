#include "tools/replay/recording.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <vector>

#include "base/error.h"
#include "plugins/files/arrays/npy.h"
#include "plugins/files/contours/text_buffer.h"
#include "plugins/files/dataset/manifest.h"
#include "plugins/files/levels/writer.h"
#include "plugins/files/shared/frame_files.h"

namespace contorno {
namespace {

constexpr std::string_view kFrameFolder = "frames", kMapFolder = "maps";

/// Frames of another recording, also of one that came to no manifest, are not mixed with those of this one.
void refuse_recorded(const std::filesystem::path& folder) {
  const auto refuse = [](const std::filesystem::path& path) {
    throw Error(ExitCode::CannotCreate,
                fmt::format("{}: the folder has a recording already, or a part of one; give another one",
                            path.string()));
  };
  std::error_code error;
  if (const auto path = Recording::manifest_in(folder); std::filesystem::exists(path, error)) refuse(path);
  for (const std::string_view name : {kFrameFolder, kMapFolder})
    if (const auto path = folder / name;
        std::filesystem::exists(path, error) && !std::filesystem::is_empty(path, error))
      refuse(path);
}

/// The number that a file name begins with; 0 where there is none.
std::uint64_t number_of_file(std::string_view name) {
  std::uint64_t number = 0;
  std::from_chars(name.data(), name.data() + name.size(), number);
  return number;
}

/// One more than the largest number that a file of the folder is named by.
std::uint64_t number_behind(const std::filesystem::path& folder) {
  std::uint64_t next = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    next = std::max(next, number_of_file(at->path().stem().string()) + 1);
  return next;
}

/// The lines of a manifest; the last one of a recorder that was killed while it wrote it is left out.
std::string complete_lines(const std::filesystem::path& manifest, std::vector<DatasetItem>& items) {
  std::ifstream file(manifest, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad()) throw read_error(manifest.string(), errno);
  if (text.empty() || text.ends_with('\n')) return text;
  if (items.back().fault.empty()) return text + "\n";
  items.pop_back();
  return text.substr(0, text.rfind('\n') + 1);
}

/// The sum of two times, which the manifest must have room for.
std::int64_t added_time(std::int64_t time, std::int64_t more, const std::filesystem::path& manifest) {
  constexpr std::int64_t kMost = kMostManifestSeconds * 1'000'000'000;
  std::int64_t sum = 0;
  if (__builtin_add_overflow(time, more, &sum) || sum > kMost || sum < 0)
    throw Error(
        ExitCode::CannotCreate,
        fmt::format("{}: a frame {} ns behind {} ns would have no time from 0 to {} ns, which is what a "
                    "manifest has room for; give another folder",
                    manifest.string(), more, time, kMost));
  return sum;
}

RecordedSoFar recorded_so_far(const RecordingOptions& options) {
  if (!options.append) {
    refuse_recorded(options.folder);
    return {};
  }
  RecordedSoFar before;
  for (const std::string_view name : {kFrameFolder, kMapFolder})
    before.next = std::max(before.next, number_behind(options.folder / name));
  const std::filesystem::path manifest = Recording::manifest_in(options.folder);
  std::error_code error;
  if (!std::filesystem::exists(manifest, error)) return before;
  std::vector<DatasetItem> items = read_manifest(manifest, {}).items;
  before.lines = complete_lines(manifest, items);
  before.frames = items.size();
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0;
  for (const DatasetItem& item : items) {
    if (!item.fault.empty()) throw Error(ExitCode::BadData, item.fault);
    if (!item.time_ns)
      throw Error(ExitCode::BadData, fmt::format("{}: the entry has no time, by which others could follow it",
                                                 (options.folder / item.entry).string()));
    first = std::min(first, *item.time_ns), last = std::max(last, *item.time_ns);
  }
  if (items.empty()) return before;
  const std::int64_t interval =
      last > first ? (last - first) / (static_cast<std::int64_t>(items.size()) - 1) : options.interval_ns;
  before.next_time = added_time(last, interval, manifest);
  return before;
}

/// Under a temporary name, so that a run that fails before its first frame leaves everything as it was.
OutputFile begin_manifest(OutputRegister& files, const std::filesystem::path& folder,
                          const std::string& lines) {
  OutputFile file = files.open(Recording::manifest_in(folder), "the manifest", Completion::Rename);
  if (lines.empty()) return file;
  file.write(lines);
  ::fdatasync(file.descriptor());
  return file;
}

/// All samples without the gaps between rows and planes, as they lie in an array of C order.
void pack(const ImageView& image, std::vector<std::byte>& packed) {
  const std::size_t row = image.format.row_bytes();
  packed.resize(row * static_cast<std::size_t>(image.format.height) *
                static_cast<std::size_t>(image.format.planes()));
  std::byte* to = packed.data();
  for (int plane = 0; plane < image.format.planes(); ++plane)
    for (int y = 0; y < image.format.height; ++y, to += row)
      std::memcpy(to, image.row<std::byte>(y, plane), row);
}

void write_maps(OutputFile& file, const ImageView& maps, std::vector<std::byte>& packed) {
  const auto h = static_cast<std::uint64_t>(maps.format.height),
             w = static_cast<std::uint64_t>(maps.format.width),
             c = static_cast<std::uint64_t>(maps.format.channels);
  pack(maps, packed);
  const std::array<std::uint64_t, 3> planar{c, h, w}, interleaved{h, w, c};
  write_npy(file, maps.format.type, maps.format.layout == Layout::Planar ? planar : interleaved,
            packed.data());
}

}  // namespace

class Recording::PartSink final : public Sink {
 public:
  PartSink(Recording& recording, Part part)
      : recording_(recording),
        part_(part),
        files_(PathPattern(part == Part::Frame ? fmt::format("{}/{{frame:08}}.png", kFrameFolder)
                                               : fmt::format("{}/{{frame:08}}.npy", kMapFolder)),
               Completion::SharedSeries) {}

  void open(const SinkContext& context) override { files_.open(context); }

  void write(const FrameInfo& given, const Value& value) override {
    recording_.check_going_on();
    FrameInfo info = given;
    info.number += recording_.before_.next;
    const auto& image = std::get<ImageView>(value);
    try {
      OutputFile file = files_.begin(info);
      if (part_ == Part::Frame) {
        const RecordingOptions& options = recording_.options_;
        file.write(encode_png(image, {.compression = options.compression, .threads = options.threads}));
        file.complete();
      } else {
        write_maps(file, image, packed_);
      }
      recording_.took(part_, info, files_.pattern().format(info.number, {}));
    } catch (const Error&) {
      recording_.give_up();
      throw;
    }
  }

  void finish() override { files_.finish(); }

 private:
  Recording& recording_;
  Part part_;
  FrameFiles files_;
  std::vector<std::byte> packed_;
};

Recording::Recording(OutputRegister& files, RecordingOptions options)
    : options_(std::move(options)),
      before_(recorded_so_far(options_)),
      manifest_(begin_manifest(files, options_.folder, before_.lines)) {}

std::unique_ptr<Sink> Recording::make_sink(Part part) {
  (part == Part::Frame ? has_frames_ : has_maps_) = true;
  return std::make_unique<PartSink>(*this, part);
}

std::uint64_t Recording::frames() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

/// Frames and maps come in order, so the entries are complete in order, too.
void Recording::took(Part part, const FrameInfo& info, const std::string& path) {
  const std::lock_guard lock(mutex_);
  Entry& entry = waiting_[info.number];
  (part == Part::Frame ? entry.frame : entry.maps) = path;
  if ((has_frames_ && entry.frame.empty()) || (has_maps_ && entry.maps.empty())) return;
  write_line(info, entry);
  waiting_.erase(info.number);
  ++count_;
}

void Recording::write_line(const FrameInfo& info, const Entry& entry) {
  TextBuffer line;
  line << '{';
  const auto add = [&](const char* name, const std::string& value) {
    if (value.empty()) return;
    line << '"' << name << "\": ";
    line.json(value) << ", ";
  };
  add("frame", entry.frame);
  add("maps", entry.maps);
  add("camera", options_.camera);
  add("_name", info.name);
  if (count_ == 0) first_ns_ = info.pts_ns;
  const std::int64_t time =
      added_time(before_.frames == 0 ? 0 : before_.next_time,
                 before_.frames == 0 ? info.pts_ns : info.pts_ns - first_ns_, manifest_in(options_.folder));
  line << "\"pts_ns\": " << time << "}\n";
  if (count_ == 0) manifest_.publish();
  manifest_.write(line.view());
  ::fdatasync(manifest_.descriptor());  // as far as the file system can; the entry's own files have been
}

void Recording::give_up() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
}

/// A recording without one of its parts is none: when one sink has failed the other one ends as well.
void Recording::check_going_on() const {
  const std::lock_guard lock(mutex_);
  if (ended_) throw Error(ExitCode::Io, "the other part of the frame could not be written");
}

}  // namespace contorno
