// The files of one run: what it reads and what it writes. Every place that writes a file opens it here, so
// that no output replaces an input or another output of the run, and files of earlier runs that are replaced
// are reported. One register per run, made by the command that runs; sinks reach it through SinkContext. Safe
// from any thread: sinks open files at the same time. Files are created and opened outside of the lock.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pipeline/graph/graph.h"
#include "pipeline/shared/log_event.h"
#include "plugins/files/shared/output_file.h"
#include "plugins/files/shared/path_pattern.h"

namespace contorno {

class OutputRegister {
 public:
  using Say = std::function<void(const std::string& sentence)>;
  using TellEvent = std::function<void(const LogEvent& event)>;
  /// `say` shows the user a sentence about each temporary file that a killed run left behind. It is called
  /// from the threads that open files. `tell_event` takes what happens to outputs while a run goes on;
  /// without it `say` gets the sentences.
  explicit OutputRegister(Say say = {}, TellEvent tell_event = {})
      : say_(std::move(say)), tell_event_(std::move(tell_event)) {}

  /// A file that the run reads, which `reader` names in messages ("the graph"). Anything but a regular file
  /// is ignored.
  void add_input(const std::filesystem::path& file, std::string_view reader);

  /// Adds all files that a graph reads, once its source is open.
  void add_inputs(const GraphSpec& graph, const Source& source);
  /// Adds the files that parameters name: masks, and every text that is the path of a file.
  void add_inputs(const ParamSet& params, std::string_view reader);

  /// Opens a file that `owner` ("the sink 'coco'", "--report") writes; no two writers of a run have the same
  /// owner. Throws Error(CannotCreate) when it is an input or the file of another owner, or for the reasons
  /// for which OutputFile's constructor throws.
  OutputFile open(const std::filesystem::path& path, std::string_view owner,
                  Completion completion = Completion::Rename, const Patience& patience = {});
  /// The checks of open() for a file that a library opens by itself.
  void claim(const std::filesystem::path& path, std::string_view owner);

  /// A sink's files, one a frame; the pattern is an absolute path. Throws Error(CannotCreate) when another
  /// sink has the same pattern, or when the pattern would replace an input of the run.
  void claim_pattern(const PathPattern& pattern, std::string_view owner);
  /// Opens one of them. A path that this run has written already is numbered: "a-2.png".
  OutputFile open_frame(const std::filesystem::path& path, std::string_view owner,
                        const Patience& patience = {}, Completion completion = Completion::Series);

  /// Shows the user a sentence.
  void tell(const std::string& sentence) const {
    if (say_) say_(sentence);
  }
  /// Tells the log of the run.
  void tell(const LogEvent& event) const {
    if (tell_event_)
      tell_event_(event);
    else
      tell(event.sentence);
  }
  /// Shows the user what becomes of a temporary file of a killed run; lives no longer than the register.
  TellLeftover tell_leftover() const;
  /// One line that counts the files of earlier runs that were replaced; empty: none.
  std::string replaced() const;

 private:
  struct Pattern {
    PathPattern pattern;
    std::string owner;
    bool repeats = false;  ///< two files may get the same path
  };
  using Identity = std::pair<std::uint64_t, std::uint64_t>;  // device and inode

  // Called with mutex_ held, but for path_of_frame, which takes it, and open_claimed.
  void claim_path(const std::filesystem::path& path, std::string_view owner);
  void refuse_input(const std::filesystem::path& path) const;
  bool belongs_to_other(const std::filesystem::path& path, std::string_view owner) const;
  std::filesystem::path free_path(const std::filesystem::path& path, std::string_view owner);
  std::filesystem::path path_of_frame(const std::filesystem::path& path, std::string_view owner);
  OutputFile open_claimed(const std::filesystem::path& path, Completion completion, const Patience& patience);

  Say say_;
  TellEvent tell_event_;
  mutable std::mutex mutex_;  // guards all members below
  std::map<Identity, std::string> inputs_;
  std::map<std::filesystem::path, std::string> input_paths_;
  std::map<std::filesystem::path, std::string> outputs_;
  std::vector<Pattern> patterns_;
  /// The next number to try, by the path's hash. Two paths of one hash share it, and so skip a number.
  std::unordered_map<std::size_t, unsigned> next_number_;
  std::uint64_t replaced_ = 0;
  std::string first_replaced_;
};

/// Opens the one file of a sink: resolve_output, then OutputRegister::open.
OutputFile open_output(const SinkContext& context, std::string_view path, Completion completion);

}  // namespace contorno
