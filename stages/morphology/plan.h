// A morphological operation as passes over the image. A pass applies one or two windows: the minimum or
// maximum (the extreme) over the offsets of a structuring element, which are grouped into horizontal runs.
// Made on the host when a stage is planned; both backends follow the plan. Internal.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "pipeline/value/image.h"
#include "stages/morphology/operation.h"
#include "stages/morphology/rows.h"

namespace contorno {

class StructuringElement;

/// A table of the extremes over runs of `length` pixels, computed from a table of shorter runs: entry x is
/// the extreme of the entries x + shifts[0 .. reads - 1] of table `from`.
struct RunTable {
  int length = 1;
  int from = -1;
  int reads = 0;
  std::array<int, 4> shifts{};
  int first_row = -1;  ///< uppermost row of the element whose terms use this table; -1: no term does
};

/// One horizontal run of members in one row of the element.
struct RunTerm {
  int row = 0;     ///< row of the run, counted from the element's uppermost row
  int shift = 0;   ///< column of the run's first pixel, counted from the element's leftmost pixel
  int table = 0;   ///< number of the RunTable with its length
  double add = 0;  ///< height that is added to the samples under the run
};

/// out(x, y) = extreme over the offsets (s, t) of in(x + s, y + t) + add(s, t).
struct Window {
  Extreme extreme = Extreme::Minimum;
  int left = 0, right = 0, top = 0, bottom = 0;  ///< smallest and largest s and t
  std::vector<RunTable> tables;  ///< from the shortest runs to the longest; the first has length 1
  std::vector<RunTerm> terms;    ///< row by row, from the uppermost on
  bool rectangle = false;        ///< every row is the same single run, without heights
  bool raised = false;           ///< some height is not 0
  bool holds_origin = false;     ///< (0, 0) is an offset

  int columns() const { return right - left + 1; }
  int rows() const { return bottom - top + 1; }
};

/// The window of an erosion looks at p + b for every member b of the element, that of a dilation at p - b (at
/// p + b with DilationElement::AsGiven).
Window erosion_window(const StructuringElement& element, ErosionHeights heights);
Window dilation_window(const StructuringElement& element, DilationElement rule);

/// How the value v of a pass's last window is stored; f is the sample of the input image.
enum class PassResult : std::uint8_t {
  Store,
  SourceMinus,          ///< f - v
  MinusSource,          ///< v - f
  MinusOutput,          ///< v - what an earlier pass left
  OutputAndComplement,  ///< min(what an earlier pass left, full - v)
};

struct MorphologyPass {
  enum class Place : std::uint8_t { Image, Between, Output };
  std::vector<Window> windows;  ///< applied one after the other; two only with the borders Constant, Identity
  Place from = Place::Image, to = Place::Output;
  PassResult result = PassResult::Store;
};

struct MorphologyPlan {
  ImageFormat format;
  MorphologyOptions options;
  std::vector<MorphologyPass> passes;
  std::optional<ReconstructionMethod> reconstruction;  ///< after the passes, of the output under the image
  bool raised = false;                                 ///< some window has heights
  bool keeps_alpha = false;

  bool needs_between() const;
  int samples_per_pixel() const { return format.layout == Layout::Interleaved ? format.channels : 1; }
};

/// `name` is the stage's, for messages. Throws Error(BadConfig) for formats that cannot be worked on.
void check_morphology_format(const char* name, const ImageFormat& format);
/// Throws Error(BadConfig) unless marker and mask have the same sides, channels, type and layout; their
/// placement on the frame may differ.
void check_reconstruction_formats(const ImageFormat& marker, const ImageFormat& mask);
bool keeps_alpha(const ImageFormat& format, AlphaRule rule);

/// The passes of an operation on images of `format`. Throw Error(BadConfig) for formats, heights and border
/// values that do not fit.
MorphologyPlan plan_morphology(MorphologyOperation operation, const StructuringElement& element,
                               const MorphologyOptions& options, const ImageFormat& format);
MorphologyPlan plan_hit_or_miss(const StructuringElement& hit, const StructuringElement& miss,
                                const MorphologyOptions& options, const ImageFormat& format);

/// The position in 0..n-1 whose pixel stands for position `i`; -1 where no pixel does (borders Constant and
/// Identity).
CONTORNO_HD constexpr int border_position(int i, int n, MorphologyBorder border) {
  if (i >= 0 && i < n) return i;
  switch (border) {
    case MorphologyBorder::Identity:
    case MorphologyBorder::Constant:
      return -1;
    case MorphologyBorder::Replicate:
      return i < 0 ? 0 : n - 1;
    case MorphologyBorder::Reflect: {
      const int at = (i % (2 * n) + 2 * n) % (2 * n);
      return at < n ? at : 2 * n - 1 - at;
    }
    case MorphologyBorder::Reflect101: {
      if (n == 1) return 0;
      const int period = 2 * n - 2, at = (i % period + period) % period;
      return at < n ? at : period - at;
    }
    case MorphologyBorder::Wrap:
      return (i % n + n) % n;
  }
  return -1;
}

}  // namespace contorno
