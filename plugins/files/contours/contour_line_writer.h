// A frame's contours with their measures as a JSON object on a line of its own: the text of the sink `jsonl`,
// for all who write it somewhere. A writer belongs to one thread and keeps its memory.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/files/contours/object_text.h"
#include "plugins/files/contours/text_buffer.h"
#include "plugins/files/contours/totals.h"
#include "plugins/files/contours/writer.h"

namespace contorno {

struct ContourLineOptions {
  Coordinates coordinates = Coordinates::Frame;
  bool skip_hidden = false;
  bool totals = false;   ///< whether each class has those of the frame
  std::string camera{};  ///< name of the camera, in every line; empty: in none
};

/// What a line of a frame has beside the frame, for who makes messages of it.
struct ContourLineExtras {
  std::string_view head{};  ///< members that stand first, each with a comma behind it
  bool points = true;       ///< whether contours have "points"
};

class ContourLineWriter {
 public:
  explicit ContourLineWriter(ContourLineOptions options) : options_(std::move(options)) {}

  /// Called before the first line, and when the format of the contours changes.
  void open(const SinkContext& context);
  /// The line of a frame, with its line break; valid until the next call.
  std::string_view line(const FrameInfo& info, const ContoursView& view,
                        const ContourLineExtras& extras = {});
  /// The line of a record, likewise.
  std::string_view line(const FinishedObjects& objects, const ObjectRecord& record);
  /// The totals over all lines so far of the classes that are written; empty without the option `totals`.
  std::vector<ClassTotals> totals() const;

 private:
  bool is_written(std::size_t k) const { return !options_.skip_hidden || !placer_.classes()[k].hidden; }
  void write_camera();
  void write_class(const ContoursView& view, std::size_t k, std::span<const ContourMeasures> measures);
  void write_totals(const ClassTotals& totals);
  void write_contour(const ContoursView& view, std::uint32_t index, const ContourMeasures& m);

  ContourLineOptions options_;
  bool has_points_ = true;  // the line that is being written
  ContourPlacer placer_;
  TotalsCounter totals_;
  std::vector<ContourMeasures> measures_;
  TextBuffer text_;
};

}  // namespace contorno
