#include "plugins/files/shared/frame_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/files/shared/part_files.h"

namespace contorno {
namespace fs = std::filesystem;
namespace {

/// `text` as a pattern that means just that.
std::string literal(std::string_view text) {
  std::string escaped;
  for (const char c : text) escaped.append(c == '{' || c == '}' ? 2 : 1, c);
  return escaped;
}

/// The name of the marker: that of the pattern, in its deepest folder that is the same for all frames.
fs::path marker_of(const fs::path& root, const std::string& pattern) {
  const std::size_t slash = pattern.rfind('/', pattern.find('{'));
  const std::size_t length = slash == std::string::npos ? 0 : slash + 1;
  std::string name = pattern.substr(length);
  std::replace(name.begin(), name.end(), '/', '_');
  return root / pattern.substr(0, length) / name;
}

}  // namespace

void FrameFiles::open(const SinkContext& context) {
  const fs::path first = resolve_output(context.output_root, pattern_.format(0, "name"));
  if (is_open_) return;  // another format, the same files
  root_ = context.output_root;
  owner_ = context.owner;
  patience_ = context.patience;
  outputs_ = context.outputs != nullptr ? context.outputs : &alone_;
  const fs::path root = canonical_root(root_);
  full_ =
      PathPattern(fs::path(pattern_.text()).is_absolute() ? pattern_.text()
                                                          : literal(root.string()) + '/' + pattern_.text());
  outputs_->claim_pattern(full_, owner_);
  std::error_code error;
  if (fs::exists(fs::symlink_status(first, error)) && !full_.varies() && !fs::is_regular_file(first))
    return;  // a device
  const fs::path marker = marker_of(root, pattern_.text());
  if (completion_ == Completion::SharedSeries) {
    const FolderLock lock(marker.parent_path());
    clear_way(marker);
  } else {
    marker_ = OutputFile(marker, Completion::Rename, {}, outputs_->tell_leftover());
    clear_way(marker);
  }
  is_open_ = true;
}

void FrameFiles::clear_way(const fs::path& marker) {
  const fs::path folder = marker.parent_path();
  const PartFiles parts = find_parts(folder, [&](std::string_view target) {
    return target != marker.filename().string() && full_.may_make((folder / target).string());
  });
  clear_leftovers(parts.dead, completion_, outputs_->tell_leftover());
}

OutputFile FrameFiles::begin(const FrameInfo& info) {
  const fs::path path = resolve_output(root_, full_.format(info.number, info.name));
  OutputFile file = outputs_->open_frame(path, owner_, patience_, completion_);
  if (file.path() != path) ++numbered_;
  return file;
}

void FrameFiles::written(const OutputFile& file) {
  last_ = file.path().string();
  ++count_;
}

void FrameFiles::finish() {
  marker_.abandon();
  is_open_ = false;
}

std::string FrameFiles::summary(std::string_view what) const {
  std::string text = count_ > 1 ? fmt::format("{} {}, the last {}", count_, what, last_) : last_;
  if (numbered_ > 0) text += fmt::format("; {} numbered, since frames had the same name", numbered_);
  return text;
}

}  // namespace contorno
