// FrameFiles opens the files of a sink that writes one a frame (a sink that writes a file a level has one
// FrameFiles a level). It refuses a bad path before the first frame, gives every frame a file of its own, and
// counts them. As long as it is open, a marker beside the files keeps another run from writing the same ones,
// unless runs share the folder (Completion::SharedSeries).
// It is owned by the sink and used by its thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "pipeline/graph/sink.h"
#include "plugins/files/shared/output_file.h"
#include "plugins/files/shared/output_register.h"
#include "plugins/files/shared/path_pattern.h"

namespace contorno {

class FrameFiles {
 public:
  /// `completion` is Series or SharedSeries.
  explicit FrameFiles(PathPattern pattern, Completion completion = Completion::Series)
      : pattern_(std::move(pattern)), completion_(completion) {}
  FrameFiles(const FrameFiles&) = delete;
  FrameFiles& operator=(const FrameFiles&) = delete;

  const PathPattern& pattern() const { return pattern_; }
  /// Resolves the pattern, claims it in the run's OutputRegister, makes the marker, and clears away what
  /// killed runs have left of such files. Called again after a
  /// change of formats. Throws Error(BadConfig, CannotCreate).
  void open(const SinkContext& context);
  /// The file of a frame. complete() it, then call written().
  OutputFile begin(const FrameInfo& info);
  void written(const OutputFile& file);
  /// Lets another run write here.
  void finish();

  std::uint64_t count() const { return count_; }
  /// "12 images, the last a/000011.png", where `what` is "images"; the path alone when there is one file,
  /// empty when there is none.
  std::string summary(std::string_view what) const;

 private:
  void clear_way(const std::filesystem::path& marker);

  PathPattern pattern_, full_;
  Completion completion_;
  std::string root_, owner_, last_;
  Patience patience_;
  OutputRegister alone_;
  OutputRegister* outputs_ = nullptr;
  OutputFile marker_;
  bool is_open_ = false;
  std::uint64_t count_ = 0, numbered_ = 0;
};

}  // namespace contorno
