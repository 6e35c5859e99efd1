// Drawing an overlay on the CPU: segments are sorted into tiles of the image, insides and labels are found,
// and then each tile is painted. The painter borrows the plan and keeps nothing between calls. The calls for
// one frame come in the order of declaration; calls for different tile rows write to different memory, so
// that threads may work on them at the same time.
#pragma once

#include <array>
#include <span>

#include "stages/overlay/plan.h"

namespace contorno {

/// The memory of one run; all of it is the slot's. A reference to a segment is the index of its first point.
struct OverlayWork {
  const ContoursView* contours;
  FramePoint* points;         ///< the contours' points on the drawn image
  std::uint32_t* tile_begin;  ///< tiles + 1; references of tile t are [tile_begin[t], tile_begin[t + 1])
  std::uint32_t* tile_fill;   ///< where the next reference of the tile goes
  std::uint32_t* references;  ///< ascending in a tile, hence in class order
  std::uint32_t* inside;      ///< bits of filled classes: [class slot][row][tile column]
  PlacedLabel* labels;
  PlacedStamp* label_pieces;  ///< OverlayPlan::label_pieces of each label
  int label_count = 0;
  std::uint32_t* counted;  ///< contours of each class that its number in the legend counts
  // Where the legend says something of objects:
  const LegendState* state_before;
  LegendState* state_after;
  LegendWork legend;
  PlacedStamp* legend_pieces;
  int legend_piece_count = 0;
};

class OverlayPainter {
 public:
  explicit OverlayPainter(const OverlayPlan& plan)
      : plan_(plan), grid_(plan.grid), channels_(plan.format.channels) {}

  /// Counts the references of each tile in tile rows [from, to), in tile_fill.
  void count_references(const OverlayWork& work, int from, int to) const;
  /// Writes the references of these tiles, when tile_begin is known.
  void fill_references(const OverlayWork& work, int from, int to) const;
  /// Makes the inside bits of filled classes for tile rows [from_tile, to_tile): marks in each row of pixels
  /// where insides begin and end, and fills between the marks.
  void find_insides(const OverlayWork& work, int from_tile, int to_tile) const;
  /// Places the labels of all classes: for each class at its `a_class` largest contours (by area of the box,
  /// of equals the first), if they are large enough and the label overlaps no picture placed before. Returns
  /// how many labels there are.
  int place_labels(const OverlayWork& work, int a_class) const;
  /// Counts the contours of each class, for the legend.
  void count_contours(const OverlayWork& work) const;
  /// Counts objects and adds up their shares; returns how many pictures of numbers the legend then has.
  int count_objects(const OverlayWork& work) const;
  void paint_tile_row(const OverlayWork& work, const ImageView& out, int tile_row) const;

 private:
  struct Field;
  template <class F>
  void for_contours(const ContoursView& contours, const F& f) const;
  template <class F>
  void for_segments(const ContoursView& contours, const F& f) const;
  template <class F>
  void for_tiles(FramePoint a, FramePoint b, float reach, int from, int to, const F& f) const;

  /// A contour that may have a label.
  struct Labelled {
    LabelBox box;
    std::uint32_t contour = 0;
  };
  int largest(const OverlayWork& work, int k, int wanted, std::array<Labelled, kMaxLabels>& best) const;
  bool is_free(const PlacedBox& label, const PlacedLabel* placed, int count) const;
  void measure_objects(const ContoursView& contours, const LegendWork& legend,
                       std::span<const std::uint32_t> outlines) const;
  int largest_share(const ContoursView& contours, const LegendWork& legend,
                    std::span<const std::uint32_t> outlines, int k) const;
  PlacedStamp* pieces_of(const OverlayWork& work, int label) const {
    return work.label_pieces + static_cast<std::ptrdiff_t>(label) * plan_.label_pieces;
  }

  void paint_tile(const OverlayWork& work, const ImageView& out, int tile_row, int tile_column) const;
  void measure(const OverlayWork& work, const OverlayPen& pen_of_class,
               std::span<const std::uint32_t> segments, int tile_row, int tile_column, Field& field,
               Field& dots) const;
  void paint_class(const OverlayWork& work, const ImageView& out, int k, int tile_row, int tile_column,
                   const Field& field, const Field& dots) const;
  bool touches_inside(const OverlayWork& work, int k, int tile_row, int tile_column) const;
  void paint_inside(const OverlayWork& work, const ImageView& out, int k, int tile_row,
                    int tile_column) const;
  void paint_label(const OverlayWork& work, const ImageView& out, int label, Span rows) const;
  void paint_stamp(const ImageView& out, const PlacedStamp& place, Span rows) const;
  /// Draws the numbers of count_contours, right-aligned in the legend.
  void paint_counts(const OverlayWork& work, const ImageView& out, Span rows) const;

  const OverlayPen& pen(int k) const { return plan_.pens[static_cast<std::size_t>(k)]; }
  const Stamp& stamp(int number) const { return plan_.stamps[static_cast<std::size_t>(number)]; }
  int slot(int k) const { return plan_.slots[static_cast<std::size_t>(k)]; }
  std::uint32_t* inside_row(const OverlayWork& work, int k, int y) const {
    return work.inside + (static_cast<std::ptrdiff_t>(slot(k)) * grid_.height + y) * grid_.tiles_x;
  }

  const OverlayPlan& plan_;
  OverlayGrid grid_;
  int channels_;
};

}  // namespace contorno
