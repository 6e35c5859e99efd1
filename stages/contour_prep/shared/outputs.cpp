#include "stages/contour_prep/shared/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "geometry/attributes.h"
#include "geometry/own_points.h"

namespace contorno {

bool begin_output(const ContoursView& in, const ContoursView& out) {
  std::fill_n(out.class_begin, out.format.classes + 1, 0U);
  out.offsets[0] = 0;
  const bool fits = in.fits();
  *out.counts = fits ? ContourCounts{} : *in.counts;
  return fits;
}

void gather_contours(const ContoursView& in, const std::uint32_t* sources, const ContoursView& out,
                     const std::uint32_t* starts) {
  const std::uint32_t contours = out.class_begin[out.format.classes];
  for (std::uint32_t i = 0; i < contours; ++i) {
    const std::span<const Point> points = in.contour(sources[i]);
    const auto count = static_cast<std::uint32_t>(points.size());
    Point* const to = out.points + out.offsets[i];
    if (starts == nullptr || starts[sources[i]] == 0)
      std::copy(points.begin(), points.end(), to);
    else
      for (std::uint32_t k = 0; k < count; ++k)
        to[k] = points[drawn_point(count, in.closed[sources[i]] != 0, starts[sources[i]], k)];
    out.offsets[i + 1] = out.offsets[i] + count;
    out.closed[i] = in.closed[sources[i]];
    copy_attributes(in, sources[i], out, i);
  }
  *out.counts = {.points = out.offsets[contours], .contours = contours};
}

void HostOrder::write_first(const RunContext& context, const unsigned* order, unsigned limit,
                            const unsigned* starts) const {
  const auto& in = std::get<ContoursView>(context.inputs[0]);
  const auto& out = std::get<ContoursView>(context.outputs[0]);
  if (!begin_output(in, out)) return;
  auto* const sources = context.scratch<std::uint32_t>(sources_);
  for (int k = 0; k < in.format.classes; ++k) {
    const std::uint32_t begin = in.class_begin[k], kept = std::min(in.class_begin[k + 1] - begin, limit);
    std::copy_n(order + begin, kept, sources + out.class_begin[k]);
    out.class_begin[k + 1] = out.class_begin[k] + kept;
  }
  gather_contours(in, sources, out, starts);
}

void HostChoice::plan(PlanContext& context, const ContoursFormat& format) {
  chosen_ = context.temporary(format.contour_capacity, MemoryKind::Host);
  sources_ = context.temporary(format.contour_capacity * sizeof(std::uint32_t), MemoryKind::Host);
}

void HostChoice::write(const RunContext& context) const {
  const auto& in = std::get<ContoursView>(context.inputs[0]);
  const auto& out = std::get<ContoursView>(context.outputs[0]);
  if (!begin_output(in, out)) return;
  const std::uint8_t* const chosen = this->chosen(context);
  auto* const sources = context.scratch<std::uint32_t>(sources_);
  std::uint32_t kept = 0;
  for (int k = 0; k < in.format.classes; ++k) {
    for (std::uint32_t contour = in.class_begin[k]; contour < in.class_begin[k + 1]; ++contour)
      if (chosen[contour] != 0) sources[kept++] = contour;
    out.class_begin[k + 1] = kept;
  }
  gather_contours(in, sources, out);
}

namespace {

/// Appends what remains of one contour at out.points[at]; returns how many points are stored for it.
std::uint32_t append_kept(const ContoursView& in, std::uint32_t contour, const std::uint8_t* keep,
                          const ContoursView& out, std::uint32_t place, std::uint32_t at) {
  const OwnPoints own(in, contour);
  const std::uint32_t points = in.offsets[contour + 1] - own.begin;
  std::uint32_t kept = 0;
  // Every point is written, and the next one over it if it goes: which ones do cannot be predicted. There is
  // room, because no more points are kept than were read.
  for (std::uint32_t i = own.begin; i < own.end; ++i) {
    out.points[at + kept] = in.points[i];
    kept += keep[i] != 0 ? 1 : 0;
  }
  if (kept == 0) return 0;
  out.closed[place] = stays_closed(points, own.closed, kept) ? 1 : 0;
  const std::uint32_t stored = stored_points(points, own.closed, kept);
  if (stored > kept) out.points[at + kept] = out.points[at];
  return stored;
}

}  // namespace

void select_points(const ContoursView& in, const std::uint8_t* keep, const ContoursView& out) {
  if (!begin_output(in, out)) return;
  std::uint32_t place = 0;
  for (int k = 0; k < in.format.classes; ++k) {
    for (std::uint32_t i = in.class_begin[k]; i < in.class_begin[k + 1]; ++i) {
      const std::uint32_t at = out.offsets[place], stored = append_kept(in, i, keep, out, place, at);
      if (stored == 0) continue;
      copy_attributes(in, i, out, place);
      out.offsets[++place] = at + stored;
    }
    out.class_begin[k + 1] = place;
  }
  *out.counts = {.points = out.offsets[place], .contours = place};
}

void HostNewPoints::plan(PlanContext& context, const ContoursFormat& in, const ContoursFormat& out,
                         const char* name) {
  plan_counts(context, in, out, name, MemoryKind::Host, MemoryKind::Host);
}

void HostNewPoints::plan_counts(PlanContext& context, const ContoursFormat& in, const ContoursFormat& out,
                                const char* name, MemoryKind memory, MemoryKind answers) {
  name_ = name, capacity_ = out.point_capacity;
  counts_ = context.temporary((in.contour_capacity + 1) * sizeof(std::uint64_t), memory);
  needed_ = context.scratch(sizeof(std::uint64_t), answers);
}

void HostNewPoints::place(const RunContext& context) const {
  const PlaceNewPoints placed = this->placed(context);
  const unsigned contours = contours_of(placed.in);
  std::uint64_t* const counts = this->counts(context);
  counts[contours] = 0;
  std::exclusive_scan(counts, counts + contours + 1, counts, std::uint64_t{0});
  for (unsigned i = 0; i < places_of(placed.in, contours); ++i) placed(i);
}

std::uint64_t HostNewPoints::overflow(const RunContext& context) const {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  const std::uint64_t needed = *context.scratch<std::uint64_t>(needed_);
  if (needed > kMost)
    throw Error(ExitCode::BadData,
                fmt::format("{}: the contours of the frame would have {} points, allowed up to {}", name_,
                            needed, kMost));
  return needed > capacity_ ? needed : 0;
}

}  // namespace contorno
