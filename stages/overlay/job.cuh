// The arguments of the kernels of overlay: tables of the plan, the frame, and scratch memory. Internal.
#pragma once

#include "cuda/launch.cuh"
#include "stages/overlay/legend_objects.h"

namespace contorno::overlay_cuda {

inline constexpr unsigned kThreads = 256;  ///< threads of a block, in all kernels but paint_tiles
inline constexpr unsigned kWarps = kThreads / 32;
inline constexpr unsigned kNotDrawn = ~0U;

/// A class.
struct Class {
  OverlayPen pen;
  int slot = -1;   ///< number among the filled ones
  int label = -1;  ///< number of its label's picture
  FramePoint count_end{-1, -1};
  FramePoint share_end{-1, -1};
  bool whole = false;  ///< ClassSpec::whole
};

/// A picture: its size, and its first pixel in Job::pixels.
struct Picture {
  StampSize size;
  unsigned first = 0;
};

/// What the host reads when the frame is complete; Stage::overflow follows from it.
struct Outcome {
  unsigned long long references_needed = 0;
};

/// One launch's arguments: the plan, the frame and the scratch memory.
struct Job {
  // The plan.
  OverlayGrid grid;
  PointTransform transform;
  OverlayBorder border;
  int classes = 0, channels = 0, filled = 0;
  const Class* class_table = nullptr;
  const Picture* pictures = nullptr;
  const Colour* pixels = nullptr;
  bool has_legend = false;
  PlacedStamp legend;
  bool all_tiles = false;  ///< insides or labels may touch any tile; otherwise the touched ones are listed
  int first_digit = -1;
  LegendForm legend_form;
  bool has_shares = false;  ///< whether the legend shows shares
  int labels = 0;           ///< labels of a class, at most
  LabelForm label_form;
  int label_pieces = 1;  ///< pictures of a label, at most
  bool has_markers = false;
  unsigned long long reference_capacity = 0;

  // The frame.
  const unsigned char* in = nullptr;
  unsigned char* out = nullptr;
  std::ptrdiff_t in_pitch = 0, out_pitch = 0;
  unsigned long long frame_words = 0;  ///< words of 16 bytes in the frame, which blocks of bin_segments copy
  unsigned copy_blocks = 0;            ///< how many blocks copy: the last ones
  bool words = false;                  ///< rows start at multiples of 16 bytes
  ContoursView contours;

  // Scratch. A bin is one class in one tile. `bin_count` and `inside` are zero before bin_segments; arrange
  // clears `bin_count` again.
  unsigned long long* listed = nullptr;  ///< references of all tiles
  unsigned* touched_count = nullptr;
  unsigned* touched = nullptr;     ///< tiles that something is drawn on, in any order
  unsigned* bin_count = nullptr;   ///< [tile][class]
  unsigned* inside = nullptr;      ///< [slot][row][tile column]
  unsigned* bin_begin = nullptr;   ///< [tile][class]: first reference
  unsigned* bin_end = nullptr;     ///< [tile][class]: where the next reference goes, then the end
  unsigned* references = nullptr;  ///< first point of a segment
  FramePoint* points = nullptr;
  unsigned* point_class = nullptr;  ///< class of the segment that starts at each point, or kNotDrawn
  LabelBox* boxes = nullptr;        ///< bounding box of each contour, for labels
  unsigned* counted = nullptr;      ///< number of contours of each class; null where counts are not drawn
  const LegendState* state_before = nullptr;  ///< these five only where the legend says something of objects
  LegendState* state_after = nullptr;
  LegendWork legend_work;
  PlacedStamp* legend_pieces = nullptr;
  int* legend_piece_count = nullptr;
  PlacedLabel* placed = nullptr;  ///< labels
  PlacedStamp* pieces = nullptr;  ///< label_pieces of each label, and of one more
  int* placed_count = nullptr;
  Outcome* outcome = nullptr;  ///< pinned

  __device__ bool drawable() const { return contours.fits() && *listed <= reference_capacity; }
  __device__ unsigned tiles() const {
    return static_cast<unsigned>(grid.tiles_x) * static_cast<unsigned>(grid.tiles_y);
  }
  __device__ unsigned* inside_row(int slot, int y) const {
    return inside + (static_cast<std::ptrdiff_t>(slot) * grid.height + y) * grid.tiles_x;
  }
};

}  // namespace contorno::overlay_cuda
