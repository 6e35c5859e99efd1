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

namespace contorno {
namespace {

OutputFile begin_manifest(OutputRegister& files, const std::filesystem::path& folder) {
  const std::filesystem::path path = Recording::manifest_in(folder);
  if (std::filesystem::exists(path))
    throw Error(ExitCode::CannotCreate,
                fmt::format("{}: the folder has a recording already; give another one", path.string()));
  return files.open(path, "the manifest", Completion::InPlace);
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
  PartSink(Recording& recording, Part part) : recording_(recording), part_(part) {}

  void open(const SinkContext& context) override { context_ = context; }

  void write(const FrameInfo& info, const Value& value) override {
    recording_.check_going_on();
    const auto& image = std::get<ImageView>(value);
    const bool is_frame = part_ == Part::Frame;
    const std::string path =
        is_frame ? fmt::format("frames/{:08}.png", info.number) : fmt::format("maps/{:08}.npy", info.number);
    try {
      OutputFile file = open_output(context_, path, Completion::Rename);
      if (is_frame) {
        const RecordingOptions& options = recording_.options_;
        file.write(encode_png(image, {.compression = options.compression, .threads = options.threads}));
        file.complete();
      } else {
        write_maps(file, image, packed_);
      }
      recording_.took(part_, info, path);
    } catch (const Error&) {
      recording_.give_up();
      throw;
    }
  }

  void finish() override {}

 private:
  Recording& recording_;
  Part part_;
  SinkContext context_;
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
