// Where objects lie in one frame, for records of them (object_ledger.h) and for sinks that write pictures of
// them. docs/reference/objects.md defines the words.
#pragma once

#include <cstdint>
#include <string>

#include "pipeline/value/contours.h"
#include "pipeline/value/objects.h"

namespace contorno {

/// An object in a frame, by its outline.
struct ObjectView {
  std::uint64_t id = 0;
  double left = 0, top = 0, right = 0, bottom = 0;  ///< its box, px of the map, sample centres at integers
  double area = 0;                                  ///< that it encloses, px^2 of the map; 0 of an open one
  bool whole = false;  ///< whether it encloses anything and comes no nearer to the border than
                       ///< ObjectsRule::margin
};

/// The view of the object whose outline contour `contour` is. The contours have the attribute Id.
ObjectView object_view(const ContoursView& contours, std::uint32_t contour, const ObjectsRule& rule);

/// Calls use(view) for each object in a frame, in the order of the contours.
template <class Use>
void for_object_views(const ContoursView& contours, const ObjectsRule& rule, const Use& use) {
  const double *const ids = contours.column(Attribute::Id), *const objects =
                                                                contours.column(Attribute::Object);
  for (std::uint32_t i = contours.class_begin[rule.of_class]; i < contours.class_begin[rule.of_class + 1];
       ++i)
    if (objects[i] == ids[i]) use(object_view(contours, i, rule));
}

/// What a sink is as well that is told of the objects in each frame, beside the value that it takes.
class ObjectViewer {
 public:
  virtual ~ObjectViewer() = default;
  /// Comes before Sink::write of the same frame, for each node of the graph that makes objects, in the sink's
  /// thread. `contours` are what the node gives; all is valid during the call.
  virtual void view_objects(const std::string& stage, const ObjectsRule& rule,
                            const ContoursView& contours) = 0;
};

}  // namespace contorno
