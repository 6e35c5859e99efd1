// Reads contours from JSON lines, as the sink `jsonl` writes them: one object a frame, one frame a line; and
// from messages (plugins/files/contours/message.h), as lines or in CBOR.
#pragma once

#include <fstream>
#include <string>

#include "plugins/files/contours/cbor_items.h"
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

/// A file of messages in CBOR, one behind the other (RFC 8742). Those without contours are passed over.
/// Errors name the byte or the message.
class ContourMessages final : public ContourReader {
 public:
  explicit ContourMessages(const std::string& path)
      : path_(path), file_(path, std::ios::binary), items_(file_, path) {}
  bool next(ContourFrame& frame) override;

 private:
  std::string path_;
  std::ifstream file_;
  CborItems items_;
  std::size_t message_ = 0;
};

}  // namespace contorno
