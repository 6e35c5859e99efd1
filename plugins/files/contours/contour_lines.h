// Reads contours from JSON lines, as the sink `jsonl` writes them: one object a frame, one frame a line.
#pragma once

#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include "pipeline/graph/source.h"
#include "pipeline/value/classes.h"
#include "pipeline/value/contours.h"

namespace contorno {

/// One frame of a file: what the file says of the frame and its classes (name and level), and the contours,
/// which `view` has in `memory`. Points have the coordinates of the file; closed contours repeat their first
/// point.
struct ContourFrame {
  FrameInfo info;
  std::vector<ClassSpec> classes;
  ContoursView view;
  std::vector<std::byte> memory;
};

/// A file that is read line by line, so that its size does not matter.
class ContourLines {
 public:
  /// Throws Error(MissingInput) when `path` does not exist, Error(BadData) when it cannot be read as a file.
  explicit ContourLines(const std::string& path);

  /// Reads the next frame; empty lines are passed over. False at the end. The capacities of the format are
  /// powers of two, so that frames of about the same size have the same format. Throws Error(BadData) with
  /// file:line:column where the text is no JSON, and with file:line where something is missing or of the
  /// wrong kind.
  bool next(ContourFrame& frame);

 private:
  std::string path_;
  std::ifstream file_;
  std::size_t line_ = 0;
};

}  // namespace contorno
