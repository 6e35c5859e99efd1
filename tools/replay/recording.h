// Records what a source delivers into a dataset that can be replayed:
//
//   DIR/frames/00000017.png     the frame, lossless
//   DIR/maps/00000017.npy       its maps, in the order of sides that the source has
//   DIR/manifest.jsonl          a line a frame, with its files, time and camera
//
// Files are brought to the disk and renamed when they are complete, and only then does the manifest name
// them: a recording that ends at any moment, also by a kill, can be read as far as it came.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "pipeline/graph/sink.h"
#include "plugins/files/shared/output_register.h"

namespace contorno {

struct RecordingOptions {
  std::filesystem::path folder;
  std::string camera;            ///< empty: the manifest names none
  int compression = 1;           ///< of PNG: 0 stores, 9 is smallest and slowest
  int threads = 1;               ///< threads that compress a frame
  bool append = false;           ///< goes on with the recording that the folder has
  std::int64_t interval_ns = 0;  ///< how far behind the first frame the next one of a recording of one comes
};

/// What a recording has already, and where it goes on.
struct RecordedSoFar {
  std::string lines;           ///< the complete lines of the manifest
  std::uint64_t frames = 0;    ///< frames that the lines name
  std::uint64_t next = 0;      ///< number of the next frame, behind all files there are
  std::int64_t next_time = 0;  ///< a mean interval behind the last frame, in ns
};

/// The manifest, and the sinks that write what it names. These refer to it, and write from any thread.
class Recording {
 public:
  enum class Part : std::uint8_t { Frame, Maps };

  /// Takes the folder for this recording; the manifest appears in it with the first complete frame. `files`
  /// is borrowed. Throws Error(CannotCreate) where there are a manifest, frames or maps already, and are not
  /// to be appended to, or another recorder is at work, and Error(BadData) where the manifest cannot be
  /// continued.
  Recording(OutputRegister& files, RecordingOptions options);

  /// A sink for the frames or maps of the source.
  std::unique_ptr<Sink> make_sink(Part part);
  /// How many frames the manifest names that are new.
  std::uint64_t frames() const;
  /// How many it named before.
  std::uint64_t frames_before() const { return before_.frames; }
  static std::filesystem::path manifest_in(const std::filesystem::path& folder) {
    return folder / "manifest.jsonl";
  }

 private:
  class PartSink;
  struct Entry {
    std::string frame, maps;
  };

  void took(Part part, const FrameInfo& info, const std::string& path);
  void write_line(const FrameInfo& info, const Entry& entry);
  void give_up();
  void check_going_on() const;

  const RecordingOptions options_;
  const RecordedSoFar before_;
  mutable std::mutex mutex_;  // guards all members below
  OutputFile manifest_;
  std::map<std::uint64_t, Entry> waiting_;  ///< frames of which one part is there; fewer than slots
  bool has_frames_ = false, has_maps_ = false, ended_ = false;
  std::uint64_t count_ = 0;
  std::int64_t first_ns_ = 0;  ///< time of the first new frame
};

}  // namespace contorno
