// What a morphological operation comes down to: windows (the extreme over an element's offsets, cut into
// horizontal runs) and the passes over the image that use them. Made on the host when a stage is planned;
// both backends follow it. Internal.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "stages/morphology/rows.h"
#include "stages/morphology/stage.h"

namespace contorno {

/// The extremes over runs of `length` pixels, from those over shorter ones: position x is the extreme of
/// positions x + shifts[0 .. reads - 1] of table `from`.
struct RunTable {
  int length = 1;
  int from = -1;
  int reads = 0;
  std::array<int, 4> shifts{};
  int first_row = -1;  ///< the uppermost row with a term that uses this table; -1: only other tables do
};

/// One run of one row of the element.
struct RunTerm {
  int row = 0;    ///< from the element's uppermost row
  int shift = 0;  ///< of the run's first pixel, from the element's leftmost pixel
  int table = 0;
  double add = 0;  ///< to the samples under the run
};

/// out(x, y) = extreme over the offsets (s, t) of in(x + s, y + t) + add(s, t).
struct Window {
  Extreme extreme = Extreme::Minimum;
  int left = 0, right = 0, top = 0, bottom = 0;  ///< smallest and largest s and t
  std::vector<RunTable> tables;                  ///< by length; the first has length 1
  std::vector<RunTerm> terms;                    ///< by rows
  bool rectangle = false;                        ///< one run, the same in every row, and flat
  bool raised = false;                           ///< some height is not 0
  bool holds_origin = false;                     ///< (0, 0) is an offset

  int columns() const { return right - left + 1; }
  int rows() const { return bottom - top + 1; }
};

/// Erosion windows look at p + b, dilation windows at p - b (or p + b when told so).
Window erosion_window(const StructuringElement& element, ErosionHeights heights);
Window dilation_window(const StructuringElement& element, DilationElement rule);

/// What becomes of the value v of a pass's last window, f being the image's own sample.
enum class PassResult : std::uint8_t {
  Store,
  SourceMinus,          ///< f - v
  MinusSource,          ///< v - f
  MinusOutput,          ///< v - what an earlier pass left
  OutputAndComplement,  ///< min(what an earlier pass left, full - v)
};

struct MorphologyPass {
  enum class Place : std::uint8_t { Image, Between, Output };
  std::vector<Window> windows;  ///< one after the other; at most two, and two only with borders that are
                                ///< constant or nothing
  Place from = Place::Image, to = Place::Output;
  PassResult result = PassResult::Store;
};

struct MorphologyPlan {
  ImageFormat format;
  MorphologyOptions options;
  std::vector<MorphologyPass> passes;
  std::optional<ReconstructionMethod> reconstruction;  ///< afterwards, of the output under the image
  bool raised = false;
  bool keeps_alpha = false;

  bool needs_between() const;
  int samples_per_pixel() const { return format.layout == Layout::Interleaved ? format.channels : 1; }
};

/// `name` is the stage's, for messages. Throws Error(BadConfig) for formats that cannot be worked on.
void check_morphology_format(const char* name, const ImageFormat& format);
/// Marker and mask must be alike; where they lie on the frame does not matter.
void check_reconstruction_formats(const ImageFormat& marker, const ImageFormat& mask);
bool keeps_alpha(const ImageFormat& format, AlphaRule rule);

/// Throw Error(BadConfig) for formats, heights and border values that do not fit.
MorphologyPlan plan_morphology(MorphologyOperation operation, const StructuringElement& element,
                               const MorphologyOptions& options, const ImageFormat& format);
MorphologyPlan plan_hit_or_miss(const StructuringElement& hit, const StructuringElement& miss,
                                const MorphologyOptions& options, const ImageFormat& format);

/// Where position `i` outside of 0..n-1 is taken from; -1: from nowhere (constant or nothing).
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
