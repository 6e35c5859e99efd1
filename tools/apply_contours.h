// Contours of `contorno apply` in files: JSON lines, frame by frame.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "pipeline/graph/sink.h"
#include "plugins/files/contours/contour_lines.h"
#include "plugins/files/shared/output_register.h"

namespace contorno {

/// The one frame of a file of contours, with colours for its classes. Throws Error(BadData) when it has none
/// or several.
ContourFrame load_only_frame(const std::string& path);

/// Writes contours to a file of JSON lines; `owner` names the argument, "OUT". Throws Error(BadOption) when
/// the path does not end in .jsonl, Error(CannotCreate, Io).
class ContourFile {
 public:
  ContourFile(const std::string& path, OutputRegister& files, const std::string& owner);
  void write(const ContourFrame& from, const ContoursView& contours);
  /// Completes the file, which only then has its name.
  void finish();

 private:
  std::unique_ptr<Sink> sink_;
  SinkContext context_;
  bool open_ = false;
};

/// Copies `from` to `to`, whose capacities are not smaller.
void copy_contours(const ContoursView& from, const ContoursView& to);

}  // namespace contorno
