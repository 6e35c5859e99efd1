#include "tools/apply_contours.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "config/options.h"
#include "cuda/error.h"
#include "pipeline/shared/printable.h"
#include "plugins/files/contours/writer.h"
#include "plugins/files/shared/file_names.h"

namespace contorno {

namespace fs = std::filesystem;

ContourFrame load_only_frame(const std::string& path) {
  ContourLines lines(path);
  ContourFrame frame, other;
  if (!lines.next(frame))
    throw Error(ExitCode::BadData, fmt::format("'{}' has no frame, wanted one", printable(path)));
  if (lines.next(other))
    throw Error(ExitCode::BadData,
                fmt::format("'{}' has several frames, wanted the one of the picture", printable(path)));
  for (std::size_t k = 0; k < frame.classes.size(); ++k) frame.classes[k].colour = config::class_colour(k);
  return frame;
}

ContourFile::ContourFile(const std::string& path, OutputRegister& files, const std::string& owner) {
  if (lower_extension(path) != ".jsonl")
    throw Error(ExitCode::BadOption,
                fmt::format("{}: '{}' would be contours, which are written as .jsonl", owner, path));
  const fs::path file = path;
  sink_ = make_whole_jsonl(file.filename().string());
  context_.output_root = file.has_parent_path() ? file.parent_path().string() : ".";
  context_.owner = owner;
  context_.outputs = &files;
}

void ContourFile::write(const ContourFrame& from, const ContoursView& contours) {
  // Classes and sides may be other ones in every line.
  context_.format = contours.format;
  context_.classes = from.classes;
  sink_->open(context_);
  open_ = true;
  sink_->write(from.info, contours);
}

void ContourFile::finish() {
  if (open_) sink_->finish();
}

void copy_contours(const ContoursView& from, const ContoursView& to) {
  *to.counts = *from.counts;
  std::copy_n(from.class_begin, from.format.classes + 1, to.class_begin);
  std::copy_n(from.offsets, from.counts->contours + 1, to.offsets);
  std::copy_n(from.closed, from.counts->contours, to.closed);
  std::copy_n(from.points, from.counts->points, to.points);
}

}  // namespace contorno
