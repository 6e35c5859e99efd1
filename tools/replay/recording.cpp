#include "tools/replay/recording.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <vector>

#include "cuda/error.h"
#include "plugins/files/arrays/npy.h"
#include "plugins/files/contours/text_buffer.h"
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

/// Under a temporary name, so that a run that fails before its first frame leaves nothing.
OutputFile begin_manifest(OutputRegister& files, const std::filesystem::path& folder) {
  refuse_recorded(folder);
  return files.open(Recording::manifest_in(folder), "the manifest", Completion::Rename);
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

  void write(const FrameInfo& info, const Value& value) override {
    recording_.check_going_on();
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
    : options_(std::move(options)), manifest_(begin_manifest(files, options_.folder)) {}

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
  line << "\"pts_ns\": " << info.pts_ns << "}\n";
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
