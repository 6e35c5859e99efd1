// A record: the results of a graph on a dataset, kept in a folder so that a later run can be compared with
// them. Every value that a sink of the graph takes is a file a frame, named by the place of the frame in the
// dataset and by the value:
//
//   frames/00000017.contour_assembly.contours.jsonl
//       contours as the sink jsonl writes them, in coordinates of the map and without the frame's time
//   frames/00000017.overlay.image.crc
//       the CRC-32 of a picture's samples, and its format
//   frames/00000017.failed
//       why the frame could not be used
//
// A file that is there is complete (it is brought to the disk, then renamed), and parts of a dataset have
// files of their own: records of parts are put together by copying them into one folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/graph/graph.h"
#include "plugins/files/shared/path_pattern.h"
#include "tools/replay/frames.h"

namespace contorno {

/// A value that is recorded.
struct RecordedValue {
  std::string name;  ///< "overlay.image", as graphs call it
  Origin origin;
  PortType type = PortType::Contours;
};

/// What the sinks of a graph take, each value once, in their order. Throws Error(BadConfig) when that is
/// nothing.
std::vector<RecordedValue> recorded_values(const GraphSpec& graph);

/// "00000017", so that a sorted list of files is in the order of the frames.
std::string place_text(std::uint64_t place);
/// The file of a frame's value, below the folder of the record.
std::filesystem::path value_file(std::uint64_t place, const RecordedValue& value);
/// The files that say why frames failed, by their places, and that of one frame, likewise.
PathPattern failure_pattern();
std::filesystem::path failure_file(std::uint64_t place);

/// Removes what a record has of a frame that failed now.
void forget_values(const std::filesystem::path& record, std::uint64_t place,
                   const std::vector<RecordedValue>& values);
/// Whether a record has all of a frame, or why it failed.
bool has_frame(const std::filesystem::path& record, std::uint64_t place,
               const std::vector<RecordedValue>& values);
/// How many of the frames that a run takes failed, as a record says.
std::size_t count_failures(const std::filesystem::path& record, const FrameSelection& selection);
/// What the name of a file of a record says: the place of its frame, and of which value it is.
struct ResultName {
  std::uint64_t place = 0;
  std::string value;  ///< empty: of a failure
};
/// Nothing for names that no file of a record has, as those of the frames that `contorno record` makes.
std::optional<ResultName> result_name(std::string_view name);
/// The places of which a record has at least one file, sorted. Throws Error(MissingInput) when there is no
/// record in the folder, Error(BadData) when a file in it has no such name; temporary files are passed over.
std::vector<std::uint64_t> recorded_places(const std::filesystem::path& record);

/// Where the maps of a run lay on their frames. A record does not say it, because its contours have the
/// coordinates of the maps.
class Placements {
 public:
  /// Frames come in their order.
  void add(std::uint64_t place, const Placement& placement) {
    if (changes_.empty() || !(changes_.back().second == placement)) changes_.emplace_back(place, placement);
  }
  /// The placement of the frame at a place; nothing where no frame came at it or before it.
  std::optional<Placement> at(std::uint64_t place) const;

 private:
  std::vector<std::pair<std::uint64_t, Placement>> changes_;
};
/// The placements of each recorded value, by its name.
using PlacementsOfValues = std::map<std::string, Placements>;

/// A sink that writes a value of each frame below the output folder of the run, in the place of a failure
/// that was recorded before. Contours add to `placements`, which outlives the sink.
std::unique_ptr<Sink> make_record_sink(const RecordedValue& value, const FrameSelection& selection,
                                       Placements& placements);

}  // namespace contorno
