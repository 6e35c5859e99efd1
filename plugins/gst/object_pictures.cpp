#include "plugins/gst/object_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"

namespace contorno {
namespace {

/// The samples of a side of the picture that show [low, high] of the frame and `around` more, from the first
/// up to but without the last; `scale` and `offset` are those of the picture's placement.
std::pair<int, int> samples(double low, double high, double scale, double offset, int around, int side) {
  const auto on_picture = [&](double frame) { return (frame - offset + 0.5) / scale - 0.5; };
  const double first = std::floor(on_picture(low)) - around, last = std::ceil(on_picture(high)) + around;
  const auto within = [&](double place) { return static_cast<int>(std::clamp<double>(place, 0, side - 1)); };
  return {within(first), within(last) + 1};
}

}  // namespace

void ObjectPictures::view(const std::string& stage, const ObjectsRule& rule, const ContoursView& contours) {
  was_told_ = true;
  for_object_views(contours, rule, [&](const ObjectView& view) {
    const auto key = std::make_pair(stage, view.id);
    auto at = objects_.find(key);
    if (at == objects_.end()) {
      if (objects_.size() >= rule.max_objects) forget_lost(rule);
      if (objects_.size() >= rule.max_objects) return;
      at = objects_.emplace(key, Object{}).first;
    }
    Object& object = at->second;
    object.last_frame = frame_;
    const bool better = object.whole != view.whole ? view.whole : view.area > object.area;
    if (!better) return;
    object.area = view.area, object.whole = view.whole;
    better_.push_back({&object, contours.format.placement, view});
  });
}

/// Those of which no record comes, since too many were known at a time.
void ObjectPictures::forget_lost(const ObjectsRule& rule) {
  constexpr std::uint64_t kDropped = 1000;  // frames of other causes, for which a record may be late
  std::erase_if(objects_,
                [&](const auto& one) { return frame_ > one.second.last_frame + rule.max_missed + kDropped; });
}

void ObjectPictures::keep(const FrameInfo& info, const ImageView& image) {
  if (!was_told_)
    throw Error(
        ExitCode::BadConfig,
        "objects is true, but no stage of the graph makes objects: the step objects of contour_prep does");
  const Placement& placement = image.format.placement;
  const std::size_t pixel = image.format.row_bytes() / static_cast<std::size_t>(image.format.width);
  for (const Better& one : better_) {
    const auto [left, right] =
        samples(one.placement.frame_x(one.view.left), one.placement.frame_x(one.view.right),
                placement.scale_x, placement.offset_x, around_, image.format.width);
    const auto [top, bottom] =
        samples(one.placement.frame_y(one.view.top), one.placement.frame_y(one.view.bottom),
                placement.scale_y, placement.offset_y, around_, image.format.height);
    Picture& picture = one.object->picture;
    picture.format = image.format;
    picture.format.width = right - left, picture.format.height = bottom - top;
    picture.info = info;
    const std::size_t row = picture.format.row_bytes();
    picture.pixels.resize(row * static_cast<std::size_t>(picture.format.height));
    for (int y = top; y < bottom; ++y)
      std::memcpy(picture.pixels.data() + static_cast<std::size_t>(y - top) * row,
                  image.row<const std::byte>(y) + static_cast<std::size_t>(left) * pixel, row);
  }
  better_.clear();
  ++frame_;
}

bool ObjectPictures::take(const std::string& stage, const ObjectsRule& rule, std::uint64_t id,
                          Picture& picture) {
  const auto at = objects_.find(std::make_pair(stage, id));
  if (at == objects_.end() || at->second.picture.pixels.empty()) return false;
  picture = std::move(at->second.picture);
  // With an ending, since that of a frame's name is left out of file names.
  picture.info.name = fmt::format("{}-{}.png", rule.name, id);
  objects_.erase(at);
  return true;
}

}  // namespace contorno
