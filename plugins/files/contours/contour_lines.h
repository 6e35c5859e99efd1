// Reads contours from JSON lines, as the sink `jsonl` writes them: one object a frame, one frame a line.
#pragma once

#include <fstream>
#include <string>

#include "plugins/files/contours/contour_frame.h"

namespace contorno {

/// A file that is read line by line, so that its size does not matter. Empty lines are passed over, and so
/// are records of objects. Errors have file:line:column where the text is no JSON, and file:line where
/// something is missing or of the wrong kind.
class ContourLines final : public ContourReader {
 public:
  explicit ContourLines(const std::string& path) : path_(path), file_(path) {}
  bool next(ContourFrame& frame) override;

 private:
  std::string path_;
  std::ifstream file_;
  std::size_t line_ = 0;
};

}  // namespace contorno
