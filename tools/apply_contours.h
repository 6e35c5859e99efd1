// Reads the files of contours that `contorno apply` and `contorno clean` take, applies a stage frame by
// frame, and writes the results.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "pipeline/graph/applied.h"
#include "pipeline/graph/sink.h"
#include "plugins/files/contours/contour_reader.h"
#include "plugins/files/shared/output_register.h"

namespace contorno {

/// The one frame of a file of contours, with colours for its classes. Throws Error(BadData) when the file has
/// no frame or several, and what ContourLines throws.
ContourFrame load_only_frame(const std::string& path);

/// Writes contours to a file: JSON lines (.jsonl), GeoJSON (.geojson) or COCO (.json), with coordinates of
/// the map. `owner` is what messages call the argument: "OUT". Throws Error(BadOption) for other names,
/// Error(CannotCreate, Io).
class ContourFile {
 public:
  ContourFile(const std::string& path, OutputRegister& files, const std::string& owner);
  /// Throws Error(BadData) for COCO with other classes than those of the first frame.
  void write(const ContourFrame& from, const ContoursView& contours);
  /// Completes the file, which only then has its name.
  void finish();

 private:
  std::unique_ptr<Sink> sink_;
  SinkContext context_;
  bool open_ = false, one_list_of_classes_ = false;
  std::vector<ClassSpec> classes_;  ///< of the first frame
};

/// A stage from contours to contours, and how it runs. References and pointers are borrowed.
struct ContoursApplication {
  const StageType& type;
  const ParamSet& params;
  Backend backend = Backend::Auto;
  int threads = 0;
  const TextRasteriser* text = nullptr;
  std::vector<Value> images = {};  ///< what the stage takes beside the contours
};

/// What applying a stage took, without reading and writing files: on CUDA with uploads and downloads.
struct ApplyTime {
  std::int64_t ns = 0;
  std::uint64_t frames = 0;
  Backend backend = Backend::Cpu;
};

/// Applies the stage to every frame of the file `input`, which has one where the stage takes images as well.
/// The file `output` gets its name only when all are done. Throws Error(BadData) with the line that is wrong.
ApplyTime apply_to_file(const ContoursApplication& what, const std::string& input, const std::string& output,
                        OutputRegister& files);

/// Plans for `values`, copies them to the stage's inputs, and runs it. Returns what the run took, in
/// nanoseconds.
std::int64_t apply_to(AppliedStage& stage, std::span<const Value> values);

}  // namespace contorno
