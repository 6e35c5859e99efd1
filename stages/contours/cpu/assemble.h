// Contours from crossings, on the CPU: links segments in bands of rows in parallel, joins the contours that
// cross bands, numbers contours in scikit-image's order, and writes points to their final places. Results do
// not depend on the number of threads or bands. The assembler is made once per format; run functions are
// const, use only the caller's scratch memory and allocate nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "stages/contours/cpu/emit_points.h"
#include "stages/contours/cpu/link_band.h"

namespace contorno {

struct AssemblyOptions {
  Connectivity fully_connected = Connectivity::Low;
  Orientation positive_orientation = Orientation::Low;
  std::uint64_t min_points = 0;  ///< contours with fewer points are left out
  SampleScale scale;
  int threads = 1;
  int band_rows = 0;  ///< 0 = chosen from size and threads; tests set it small
};

/// What is linked: a plane, and which of its words may have crossed cells.
struct LinkedPlane {
  CellBits cells;
  LevelWords words;
};

/// Points and contours of all classes. `lost`: the scratch memory was too small, and the counts are too low.
struct AssemblyCounts {
  std::uint64_t points = 0, contours = 0;
  bool lost = false;
};

class Assembler {
 public:
  Assembler(const ImageFormat& map, std::vector<double> levels, const AssemblyOptions& options);
  /// Makes room for the functions that take planes: up to `planes` of them, of maps of this size.
  Assembler(const ImageFormat& map, int planes, const AssemblyOptions& options);

  /// Bytes of scratch for this many contours and points.
  std::size_t scratch_bytes(std::uint64_t contours, std::uint64_t points) const;
  /// Finds all contours and counts them. `block` is the filled crossings block of `map`; `scratch` has
  /// scratch_bytes(contours, points).
  AssemblyCounts link(const ImageView& map, void* block, std::byte* scratch, std::uint64_t contours,
                      std::uint64_t points) const;
  /// After link() with the same arguments, if nothing was lost: writes contours to `target`. `class_begin`
  /// has room for classes + 1 numbers.
  void emit(const ImageView& map, void* block, std::byte* scratch, std::uint64_t contours,
            std::uint64_t points, const EmitTarget& target, std::uint32_t* class_begin) const;

  /// link() and emit() for planes that the caller has marked. Their contours are numbered, and lie in the
  /// target, behind the contours and points of `before`; `plane_begin` has room for planes + 1 numbers.
  AssemblyCounts link(std::span<const LinkedPlane> planes, std::byte* scratch, std::uint64_t contours,
                      std::uint64_t points) const;
  void emit(std::span<const LinkedPlane> planes, std::byte* scratch, std::uint64_t contours,
            std::uint64_t points, const AssemblyCounts& before, const EmitTarget& target,
            std::uint32_t* plane_begin) const;

 private:
  struct Layout;
  struct Memory;
  Layout layout_of(std::uint64_t contours, std::uint64_t points) const;
  Memory memory_of(std::byte* scratch, std::uint64_t contours, std::uint64_t points) const;
  std::span<const LinkedPlane> planes_of(const ImageView& map, void* block, const Memory& memory) const;
  Band band_of(const Memory& memory, int task) const;
  void stitch(const Memory& memory) const;
  static void stitch_from(Detail& start, std::uint64_t min_points);

  ImageFormat format_;
  std::vector<double> levels_;
  AssemblyOptions options_;
  std::int64_t row_words_ = 0, cell_rows_ = 0, band_rows_ = 1;
  int planes_ = 0, bands_ = 0, tasks_ = 0;
  std::unique_ptr<WalkTable> table_;
};

}  // namespace contorno
