// Pictures of objects, as fruit on a sorting line: of each what was cut out of the frame where it was seen
// best, kept until its record says that it has left. Seen best is where the border cuts nothing of it, and of
// such frames the first in which its outline encloses most. Used by the thread of a sink.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/graph/sink.h"
#include "pipeline/value/object_views.h"

namespace contorno {

class ObjectPictures {
 public:
  /// A picture, packed.
  struct Picture {
    ImageFormat format;
    std::vector<std::byte> pixels;
    FrameInfo info;  ///< number and time of the frame; named after the object, as "fruit-7.png"
  };

  /// `around`: px of the picture beside the outline's box.
  explicit ObjectPictures(int around) : around_(around) {}

  /// See ObjectViewer; before `keep` of the same frame.
  void view(const std::string& stage, const ObjectsRule& rule, const ContoursView& contours);
  bool was_told() const { return was_told_; }
  /// Cuts out of `image` what is seen better in it than before. Throws Error(BadConfig) if no objects were
  /// shown.
  void keep(const FrameInfo& info, const ImageView& image);
  /// The picture of an object that has left; false if there is none, since the sink got none of its frames.
  bool take(const std::string& stage, const ObjectsRule& rule, std::uint64_t id, Picture& picture);

 private:
  struct Object {
    Picture picture;
    double area = -1;
    bool whole = false;
    std::uint64_t last_frame = 0;
  };
  struct Better {
    Object* object;
    Placement placement;  // of the map
    ObjectView view;
  };
  void forget_lost(const ObjectsRule& rule);

  int around_;
  bool was_told_ = false;
  std::uint64_t frame_ = 0;
  std::map<std::pair<std::string, std::uint64_t>, Object> objects_;  // by stage and id
  std::vector<Better> better_;                                       // in the frame that comes next
};

}  // namespace contorno
