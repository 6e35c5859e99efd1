// The declaration of close_at_border, and its implementation on the CPU.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "pipeline/shared/loops.h"
#include "stages/contour_prep/close_at_border/stage.h"
#include "stages/contour_prep/shared/arrays.h"
#include "stages/contour_prep/shared/contour_step.h"
#include "stages/contour_prep/shared/outputs.h"

namespace contorno {
namespace {

constexpr std::uint32_t kNoContour = ~0U;

/// Where on the border a contour begins or ends.
struct BorderEnd {
  std::uint64_t key = 0;
  std::uint32_t contour = 0;
  bool is_linked = false;

  bool begins() const { return (key & 1) != 0; }
  bool operator<(const BorderEnd& other) const {
    return key != other.key ? key < other.key : contour < other.contour;
  }
};

/// What is known of a contour while rings are written.
enum class RingState : std::uint8_t { Unknown, Written, Stays };

struct BorderArrays {
  BorderEnd* ends = nullptr;
  std::uint32_t *open = nullptr, *next = nullptr;  ///< of contours, as the states
  RingState* states = nullptr;

  void arrays(ArrayTaker& take, const ContoursFormat& format) {
    const std::size_t contours = format.contour_capacity;
    take(ends, 2 * contours), take(open, contours), take(next, contours), take(states, contours);
  }
};

class CloseAtBorderCpu final : public Stage {
 public:
  explicit CloseAtBorderCpu(const CloseAtBorderParams& params) : orientation_(params.positive_orientation) {}

  void plan(PlanContext& context) override {
    arrays_.plan(context, MemoryKind::Host, std::get<ContoursFormat>(context.input(0)), BorderArrays{});
    format_ = closed_format(context);
    context.set_output(0, format_);
  }

  void run(const RunContext& context) const override {
    const auto& in = std::get<ContoursView>(context.inputs[0]);
    const auto& out = std::get<ContoursView>(context.outputs[0]);
    if (!begin_output(in, out)) {  // nor may the output seem to fit
      out.counts->points = std::max(in.counts->points, format_.point_capacity + 1);
      return;
    }
    const auto arrays = arrays_.of(context, BorderArrays{});
    for_tasks(context.threads, in.format.classes, [&](int k) { link_class(arrays, in, k); });
    write(arrays, in, out);
  }

 private:
  /// Writes which contour follows each one of a class.
  void link_class(const BorderArrays& arrays, const ContoursView& in, int k) const {
    const MapBorder border(in.format, orientation_);
    std::uint32_t* const next = arrays.next;
    BorderEnd* const ends = arrays.ends + 2ULL * in.class_begin[k];
    std::uint32_t count = 0;
    for (std::uint32_t c = in.class_begin[k]; c < in.class_begin[k + 1]; ++c) {
      next[c] = kNoContour;
      if (!has_ends(in, c)) continue;
      const std::span<const Point> points = in.contour(c);
      for (const bool begins : {true, false}) {
        const Point& point = begins ? points.front() : points.back();
        if (border.has(point)) ends[count++] = {end_key(border, point, begins), c};
      }
    }
    std::sort(ends, ends + count);
    // Where contours end, and no begin has closed it yet. What is left closes what comes first, once round.
    std::uint32_t* const open = arrays.open + in.class_begin[k];
    std::uint32_t waiting = 0;
    for (const bool is_again : {false, true})
      for (BorderEnd* end = ends; end < ends + count; ++end)
        if (!end->begins()) {
          if (!is_again) open[waiting++] = end->contour;
        } else if (!end->is_linked && waiting > 0) {
          next[open[--waiting]] = end->contour;
          end->is_linked = true;
        }
  }

  void write(const BorderArrays& arrays, const ContoursView& in, const ContoursView& out) const {
    const std::uint32_t* const next = arrays.next;
    RingState* const states = arrays.states;
    std::fill_n(states, in.counts->contours, RingState::Unknown);
    ContourWriter writer(out);
    for (int k = 0; k < in.format.classes; ++k) {
      for (std::uint32_t c = in.class_begin[k]; c < in.class_begin[k + 1]; ++c) {
        if (states[c] == RingState::Written) continue;
        if (states[c] == RingState::Unknown && is_ring(next, c, states))
          write_ring(in, c, next, states, writer);
        else
          writer.add_contour(in, c);
      }
      out.class_begin[k + 1] = static_cast<std::uint32_t>(writer.counts().contours);
    }
    *out.counts = writer.counts();
  }

  /// Whether what follows contour `first` leads back to it; if not, all that follows stays as it is.
  static bool is_ring(const std::uint32_t* next, std::uint32_t first, RingState* states) {
    std::uint32_t c = first;
    do c = next[c];
    while (c != first && c != kNoContour && states[c] == RingState::Unknown);
    if (c == first) return true;
    for (c = first; c != kNoContour && states[c] == RingState::Unknown; c = next[c])
      states[c] = RingState::Stays;
    return false;
  }

  void write_ring(const ContoursView& in, std::uint32_t first, const std::uint32_t* next, RingState* states,
                  ContourWriter& writer) const {
    const MapBorder border(in.format, orientation_);
    std::uint32_t c = first;
    do {
      states[c] = RingState::Written;
      const RingPart part(border, in, c, next[c]);
      writer.add_points(in.points + in.offsets[c], part.points);
      for (unsigned i = 0; i < part.corners.count; ++i) {
        const Point corner = border.corner(part.corners.first + i);
        writer.add_points(&corner, 1);
      }
      c = next[c];
    } while (c != first);
    writer.add_points(in.points + in.offsets[first], 1);
    writer.end_contour(in, first, true);
  }

  Orientation orientation_;
  ContoursFormat format_;
  PlannedArrays arrays_;
};

ParamDeclaration close_at_border_params() {
  ParamList<CloseAtBorderParams> list;
  list.choice("positive_orientation", &CloseAtBorderParams::positive_orientation,
              {{"low", Orientation::Low}, {"high", Orientation::High}},
              "What contours run around counter-clockwise, as contour_assembly was told: regions that are "
              "low, or high.");
  return declare(list);
}

}  // namespace

ContoursFormat closed_format(const PlanContext& context) {
  ContoursFormat format = std::get<ContoursFormat>(context.input(0));
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  format.point_capacity += 5 * format.contour_capacity;  // 4 corners and the first point again
  if (format.point_capacity > kMost)
    throw Error(
        ExitCode::BadConfig,
        fmt::format("close_at_border: contours with room for {} points would be made, allowed up to {}",
                    format.point_capacity, kMost));
  return format;
}

const StageType& close_at_border_stage() {
  static const StageType type = contour_step({
      .name = "close_at_border",
      .summary = "Closes contours that end on the border of the map, along the border.",
      .gives = "The contours; what was joined is closed, in the place of its first member.",
      .params = close_at_border_params(),
      .example = "- type: close_at_border\n",
      .make_cpu = make_step<CloseAtBorderCpu, CloseAtBorderParams>,
      .make_cuda = on_cuda<make_close_at_border_cuda>(),
  });
  return type;
}

}  // namespace contorno
