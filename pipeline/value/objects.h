// What is known of an object over all the frames in which it was seen, as a fruit on a sorting line: a
// record, which is made when the object has left. docs/reference/objects.md defines every number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace contorno {

/// A class of the graph, whose contours may lie on objects.
struct ObjectClass {
  std::string name{};
  bool recorded = true;  ///< whether records have it
  bool whole = false;    ///< whether its area is part of the whole that shares are of; where no class is,
                         ///< the whole is what the outline encloses
  bool defect = false;   ///< whether objects whose largest share of it is over the threshold are counted
};

/// What a stage that makes objects of contours says of them, known once it is planned.
struct ObjectsRule {
  std::string name{};     ///< what an object is called
  unsigned of_class = 0;  ///< the place in `classes` of the class whose contours are objects
  std::vector<ObjectClass> classes{};
  double threshold = 0;  ///< a share, 0 to 1; see ObjectClass::defect
  double margin = 0;     ///< px of the map; a view whose outline comes nearer to the border is not whole
  std::uint64_t max_missed = 0;   ///< after so many frames without it and one more an object has left
  std::uint64_t max_objects = 0;  ///< known at a time; views of others are left out and counted
  std::uint64_t max_views = 0;    ///< kept of an object for its medians; of more, every second, fourth ...
};

/// The largest, the mean and the median of one number over all whole views of an object.
struct ViewNumbers {
  double largest = 0, mean = 0, median = 0;
};

/// A frame in which an object was seen.
struct SeenIn {
  std::uint64_t frame = 0;
  std::int64_t pts_ns = 0;  ///< FrameInfo::pts_ns
};

/// What was seen of a class on an object, in its whole views.
struct ObjectShare {
  ViewNumbers share;           ///< of the object's area
  ViewNumbers count;           ///< of contours that are no holes
  std::optional<SeenIn> best;  ///< where the share was largest; nothing when no view had the class
  bool is_over = false;        ///< a defect whose largest share is over the threshold
};

struct ObjectRecord {
  std::uint64_t id = 0;
  std::uint64_t views = 0;         ///< frames in which it was seen
  std::uint64_t whole_views = 0;   ///< views with an area that the border does not cut
  std::uint64_t median_views = 0;  ///< whole views of which the medians are
  SeenIn first, last;
  bool left = true;                  ///< false: it was still there when the stream ended
  ViewNumbers area;                  ///< that its outline encloses, px^2 of the map
  std::vector<ObjectShare> classes;  ///< shares of every class of the graph, by number; all 0 without a whole
                                     ///< view, when sinks write null
};

/// How many records there were, for the report.
struct ObjectTotals {
  std::string stage;  ///< the node's name
  std::string name;   ///< what an object is called
  double threshold = 0;
  std::uint64_t objects = 0;
  std::uint64_t never_whole = 0;     ///< objects without a whole view
  std::uint64_t views_left_out = 0;  ///< because there were max_objects objects already
  struct Over {
    std::string name;
    std::uint64_t objects = 0;
  };
  std::vector<Over> over;  ///< a defect each: objects on which it is over the threshold
};

/// Records that were made at one time, with what is needed to read them.
struct FinishedObjects {
  std::string stage;                  ///< the node's name
  const ObjectsRule* rule = nullptr;  ///< of the run's ObjectLedger, which outlives all sinks
  std::vector<ObjectRecord> records;
};

}  // namespace contorno
