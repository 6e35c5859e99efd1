// A plan's lists and memory for the device, see device_plan.h.
#include "stages/morphology/device_plan.h"

#include <algorithm>

#include "base/memory.h"

namespace contorno::morphology_cuda {

DevicePlan::DevicePlan(MorphologyPlan plan, std::size_t most_shared)
    : plan_(std::move(plan)), most_shared_(most_shared) {
  for (const MorphologyPass& pass : plan_.passes)
    for (const Window& window : pass.windows) add(window);
  place();
}

int DevicePlan::lanes() const {
  const std::size_t size = element_size(plan_.format.type);
  return std::max(1, static_cast<int>(4 / (plan_.raised ? 2 * size : size)));
}

bool DevicePlan::pads() const {
  return plan_.options.border != MorphologyBorder::Identity &&
         plan_.options.border != MorphologyBorder::Constant;
}

ImageFormat DevicePlan::seen_by(const MorphologyPass& pass) const {
  ImageFormat seen = plan_.format;
  if (pads()) {
    const Window& window = pass.windows.front();
    seen.width += std::max(0, -window.left) + std::max(0, window.right);
    seen.height += std::max(0, -window.top) + std::max(0, window.bottom);
  }
  return seen;
}

bool DevicePlan::by_tiles(const MorphologyPass& pass, std::size_t first) const {
  for (std::size_t w = 0; w < pass.windows.size(); ++w)
    if (windows_[first + w].tile.outputs == 0) return false;
  return !plan_.raised;
}

std::size_t DevicePlan::lines_pitch(const ImageFormat& format) const {
  return (format.samples_per_row() * element_size(format.type) + 15) / 16 * 16;
}

Strips DevicePlan::strips_of(const ImageFormat& format) const {
  const int count = lanes();
  return {.width = format.width,
          .height = format.height,
          .pixel = plan_.samples_per_pixel(),
          .strip = (format.height + count - 1) / count,
          .planes = format.planes()};
}

/// Adds a window to the lists. Terms of a window with heights are single members, those of others are runs.
void DevicePlan::add(const Window& window) {
  const int pixel = plan_.samples_per_pixel();
  DeviceWindow device;
  device.tables = tables_.size();
  for (std::size_t t = 0; t < window.tables.size(); ++t) {
    const RunTable& from = window.tables[t];
    DeviceTable table;
    table.begin = static_cast<int>(terms_.size());
    for (const RunTerm& term : window.terms) {
      if (static_cast<std::size_t>(term.table) != t) continue;
      const int members = window.raised ? from.length : 1;
      for (int k = 0; k < members; ++k)
        terms_.push_back({(term.shift + k) * pixel, term.row, static_cast<float>(term.add)});
    }
    table.end = static_cast<int>(terms_.size());
    tables_.push_back(table);
  }
  device.tile = plan_tile(window, pixel, pads() ? std::max(0, -window.left) : 0, most_shared_, runs_);
  windows_.push_back(device);
}

void DevicePlan::place() {
  std::size_t words = 0, wide = 0, padded = 0;
  for (const MorphologyPass& pass : plan_.passes) {
    const ImageFormat seen = seen_by(pass);
    words = std::max(words, strips_of(seen).words() * static_cast<std::size_t>(seen.planes()));
    if (!plan_.raised)
      words = std::max(words, lines_pitch(seen) / sizeof(unsigned) * static_cast<std::size_t>(seen.height) *
                                  static_cast<std::size_t>(seen.planes()));
    if (pads()) padded = std::max(padded, packed_bytes(seen));
    for (const Window& window : pass.windows) {
      ImageFormat wider = seen;
      wider.width += window.columns() - 1;
      wide = std::max(wide, strips_of(wider).words() * static_cast<std::size_t>(seen.planes()));
    }
  }
  words_bytes_ = align_up(words * sizeof(unsigned));
  const std::size_t wide_bytes = align_up(wide * sizeof(unsigned));
  padded_at_ = 2 * words_bytes_ + wide_bytes;
  between_at_ = padded_at_ + padded;
  scratch_bytes_ = between_at_ + (plan_.needs_between() ? packed_bytes(plan_.format) : 0);
}

}  // namespace contorno::morphology_cuda
