#include "pipeline/value/levels.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace contorno {
namespace {

LevelBox bounds_of(const std::vector<LevelBox>& boxes) {
  LevelBox bounds;
  for (const LevelBox& box : boxes) {
    bounds.width = std::max(bounds.width, box.x + box.width);
    bounds.height = std::max(bounds.height, box.y + box.height);
  }
  return bounds;
}

}  // namespace

int next_side(int side, int divisor, LevelSizes sizes) {
  switch (sizes) {
    case LevelSizes::Floor:
      return std::max(1, side / divisor);
    case LevelSizes::Ceil:
      return (side + divisor - 1) / divisor;
    case LevelSizes::Round:
      return std::max(1, (2 * side + divisor) / (2 * divisor));
  }
  throw InternalError("unknown rule of level sizes");
}

std::vector<LevelBox> level_sizes(int width, int height, int divisor, LevelSizes sizes, int stop) {
  std::vector<LevelBox> all{{0, 0, width, height}};
  const auto goes_on = [stop](const LevelBox& box) {
    return stop > 1 ? std::min(box.width, box.height) > stop : std::max(box.width, box.height) > 1;
  };
  while (goes_on(all.back()))
    all.push_back(
        {0, 0, next_side(all.back().width, divisor, sizes), next_side(all.back().height, divisor, sizes)});
  return all;
}

std::vector<LevelBox> level_boxes(const LevelAtlas& atlas) {
  std::vector<LevelBox> boxes{{0, 0, atlas.width, atlas.height}};
  for (int level = 1; level < atlas.levels; ++level) {
    const LevelBox& last = boxes.back();
    LevelBox box{0, last.y + last.height, next_side(last.width, atlas.divisor, atlas.sizes),
                 next_side(last.height, atlas.divisor, atlas.sizes)};
    if (level >= 2) box.x = boxes[1].width;
    if (level == 2) box.y = boxes[1].y;
    boxes.push_back(box);
  }
  return boxes;
}

std::vector<LevelBox> free_boxes(const std::vector<LevelBox>& boxes, int width, int height) {
  std::vector<LevelBox> all;
  const auto add = [&](int x, int y, int right, int bottom) {
    if (right > x && bottom > y) all.push_back({x, y, right - x, bottom - y});
  };
  add(boxes[0].width, 0, width, boxes[0].height);
  if (boxes.size() == 1) {
    add(0, boxes[0].height, width, height);
    return all;
  }
  const int column = boxes[1].width;
  add(0, boxes[1].y + boxes[1].height, column, height);
  int bottom = boxes[1].y;
  for (std::size_t level = 2; level < boxes.size(); ++level) {
    const LevelBox& box = boxes[level];
    bottom = box.y + box.height;
    add(box.x + box.width, box.y, width, bottom);
  }
  add(column, bottom, width, height);
  return all;
}

ImageFormat atlas_format(const ImageFormat& base, const LevelAtlas& atlas) {
  const LevelBox bounds = bounds_of(level_boxes(atlas));
  if (std::max(bounds.width, bounds.height) > kMaxSide)
    throw Error(ExitCode::BadConfig,
                fmt::format("all levels of {} side by side need {}x{} px, allowed {} px a side",
                            describe(base), bounds.width, bounds.height, kMaxSide));
  ImageFormat format = base;
  format.width = bounds.width, format.height = bounds.height;
  format.atlas = atlas;
  return format;
}

bool holds_levels(const ImageFormat& format) {
  if (format.atlas.levels == 0) return false;
  const LevelBox bounds = bounds_of(level_boxes(format.atlas));
  return bounds.width == format.width && bounds.height == format.height;
}

ImageView level_view(const ImageView& atlas, const LevelBox& box) {
  ImageView view = atlas;
  const int per_pixel = atlas.format.layout == Layout::Interleaved ? atlas.format.channels : 1;
  view.format.width = box.width, view.format.height = box.height;
  view.format.atlas = {};
  view.data = atlas.row<char>(box.y) + static_cast<std::size_t>(box.x) * static_cast<std::size_t>(per_pixel) *
                                           element_size(atlas.format.type);
  return view;
}

}  // namespace contorno
