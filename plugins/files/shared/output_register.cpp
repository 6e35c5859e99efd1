#include "plugins/files/shared/output_register.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <system_error>

#include "base/error.h"
#include "pipeline/graph/steps.h"
#include "plugins/files/shared/part_files.h"

namespace contorno {
namespace fs = std::filesystem;
namespace {

Error refusal(const fs::path& path, std::string_view why) {
  return Error(ExitCode::CannotCreate, fmt::format("cannot create '{}': {}", path.string(), why));
}

/// The error for two writers of one file.
Error shared(const fs::path& path, std::string_view first, std::string_view second) {
  return refusal(path, fmt::format("{} and {} both write it; give one of them another path", first, second));
}

/// A path by which two names of one file are recognised; the last component is not followed.
fs::path canonical_name(const fs::path& path) {
  return canonical_root(path.parent_path()) / path.filename();
}

}  // namespace

void OutputRegister::add_input(const fs::path& file, std::string_view reader) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  const std::lock_guard lock(mutex_);
  inputs_.emplace(Identity(status.st_dev, status.st_ino), reader);
  input_paths_.emplace(canonical_name(file), reader);
}

void OutputRegister::add_inputs(const GraphSpec& graph, const Source& source) {
  for (const std::string& file : source.files()) add_input(file, "a frame of the source");
  add_inputs(graph.source.params, "the source");
  for (const NodeSpec& node : graph.nodes) add_inputs(node.params, fmt::format("the stage '{}'", node.name));
}

void OutputRegister::add_inputs(const ParamSet& params, std::string_view reader) {
  for (const ParamSpec& spec : params.declaration().specs) {
    const ParamValue value = params.get(spec.name);
    // Any text may be the name of a file: where there is one, it is taken for an input.
    if (spec.kind == ParamKind::Text) add_input(std::get<std::string>(value), reader);
    if (const auto* mask = std::get_if<SharedMask>(&value); mask != nullptr && *mask != nullptr)
      add_input((*mask)->file, fmt::format("a mask of {}", reader));
    if (const auto* steps = std::get_if<SharedSteps>(&value); steps != nullptr && *steps != nullptr)
      for (const StepSpec& step : **steps) add_inputs(step.params, reader);
  }
}

/// Inputs are known by device and inode: another name of an input (a hard link) is refused, too.
void OutputRegister::refuse_input(const fs::path& path) const {
  struct stat status {};
  if (inputs_.empty() || ::lstat(path.c_str(), &status) != 0) return;
  const auto input = inputs_.find(Identity(status.st_dev, status.st_ino));
  if (input != inputs_.end()) throw refusal(path, fmt::format("{} is read from it", input->second));
}

bool OutputRegister::belongs_to_other(const fs::path& path, std::string_view owner) const {
  const auto output = outputs_.find(path);
  return output != outputs_.end() && output->second != owner;
}

void OutputRegister::claim(const fs::path& path, std::string_view owner) {
  const std::lock_guard lock(mutex_);
  claim_path(path, owner);
}

void OutputRegister::claim_path(const fs::path& path, std::string_view owner) {
  refuse_input(path);
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status))
    return;  // devices are shared
  const auto [output, is_new] = outputs_.emplace(canonical_name(path), owner);
  if (!is_new && output->second != owner) throw shared(path, output->second, owner);
}

OutputFile OutputRegister::open(const fs::path& path, std::string_view owner, Completion completion,
                                const Patience& patience) {
  claim(path, owner);
  return open_claimed(path, completion, patience);
}

OutputFile OutputRegister::open_claimed(const fs::path& path, Completion completion,
                                        const Patience& patience) {
  std::error_code error;
  const bool there = fs::is_regular_file(fs::symlink_status(path, error));
  OutputFile file(path, completion, patience, tell_leftover());
  if (there) {
    const std::lock_guard lock(mutex_);
    if (replaced_++ == 0) first_replaced_ = path.string();
  }
  return file;
}

void OutputRegister::claim_pattern(const PathPattern& pattern, std::string_view owner) {
  const std::lock_guard lock(mutex_);
  if (std::any_of(patterns_.begin(), patterns_.end(), [&](const Pattern& other) {
        return other.owner == owner && other.pattern.text() == pattern.text();
      }))
    return;  // the sink was opened again, for another format
  if (!pattern.varies()) claim_path(pattern.format(0, {}), owner);
  // Names of frames are names of input files: what a pattern without {frame} makes of them is known now.
  if (pattern.varies() && pattern.repeats())
    for (const auto& [input, reader] : input_paths_)
      if (const fs::path path = pattern.format(0, input.filename().string());
          input_paths_.contains(canonical_name(path)))
        throw refusal(path, fmt::format("{} is read from it", reader));
  Pattern entry{.pattern = pattern, .owner = std::string(owner), .repeats = pattern.repeats()};
  for (Pattern& other : patterns_) {
    if (other.pattern.text() == pattern.text()) throw shared(pattern.text(), other.owner, owner);
    if (other.pattern.may_meet(pattern)) entry.repeats = other.repeats = true;
  }
  patterns_.push_back(std::move(entry));
}

OutputFile OutputRegister::open_frame(const fs::path& path, std::string_view owner, const Patience& patience,
                                      Completion completion) {
  return open_claimed(path_of_frame(path, owner), completion, patience);
}

/// `path`, or the number of it that this frame gets.
fs::path OutputRegister::path_of_frame(const fs::path& path, std::string_view owner) {
  const std::lock_guard lock(mutex_);
  refuse_input(path);
  const bool repeats = belongs_to_other(path, owner) ||
                       std::any_of(patterns_.begin(), patterns_.end(), [&](const Pattern& pattern) {
                         return pattern.owner == owner && pattern.repeats;
                       });
  return repeats ? free_path(path, owner) : path;
}

/// `path`, or the first of its numbers that no file of this run has.
fs::path OutputRegister::free_path(const fs::path& path, std::string_view owner) {
  const std::hash<std::string> hash;
  const auto [at, is_new] = next_number_.try_emplace(hash(path.native()), 2);
  if (is_new && !belongs_to_other(path, owner)) return path;
  for (unsigned& number = at->second;;) {
    fs::path other = numbered(path, number++);
    if (!next_number_.try_emplace(hash(other.native()), 2).second || belongs_to_other(other, owner)) continue;
    refuse_input(other);
    return other;
  }
}

TellLeftover OutputRegister::tell_leftover() const {
  if (!say_) return {};
  return [this](const Leftover& one) {
    say_(one.kept.empty()
             ? fmt::format("removing '{}', which a run that was killed had not finished", one.part.string())
             : fmt::format("keeping '{}', which a run that was killed had recorded, as '{}'",
                           one.part.string(), one.kept.string()));
  };
}

std::string OutputRegister::replaced() const {
  const std::lock_guard lock(mutex_);
  if (replaced_ == 0) return {};
  if (replaced_ == 1) return fmt::format("'{}', which was there before", first_replaced_);
  return fmt::format("{} files that were there before, the first '{}'", replaced_, first_replaced_);
}

OutputFile open_output(const SinkContext& context, std::string_view path, Completion completion) {
  const fs::path file = resolve_output(context.output_root, path);
  OutputRegister alone;
  OutputRegister& outputs = context.outputs != nullptr ? *context.outputs : alone;
  return outputs.open(file, context.owner, completion, context.patience);
}

}  // namespace contorno
