// A bounding volume hierarchy over the points of contours, for the contour nearest to another one: a binary
// tree of boxes along the axes, each around those below it. A leaf is a run of consecutive points of one
// contour; contours can be taken out. The tree owns nothing: it works in memory that its caller plans and
// keeps while the tree is used.
//
// Where points beside each other in a contour lie far apart, as those of squares in each other, boxes of runs
// say nothing. So what is compared is counted, and when it is far more than runs that are of use take, the
// tree is made again with a leaf for every point. What is found is the same.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "geometry/box.h"
#include "geometry/own_points.h"

namespace contorno {

class BoxTree {
 public:
  /// A contour that was found, and its squared distance; kNone: there is none at a finite one.
  struct Nearest {
    static constexpr std::uint32_t kNone = ~0U;
    std::uint32_t contour = kNone;
    double squared = std::numeric_limits<double>::infinity();

    bool is_farther_than(double distance, std::uint32_t number) const {
      return distance < squared || (distance == squared && number < contour);
    }
  };

  /// Which points of open contours are in the tree; of closed ones, all.
  enum class OpenPoints : std::uint8_t { All, Ends };

  /// Bytes that the tree works in, for any contours of this format; `memory` has as many, aligned to
  /// kAlignment.
  static std::size_t bytes(const ContoursFormat& format);
  BoxTree(const ContoursFormat& format, OpenPoints open, std::byte* memory);

  /// Makes the tree of contours [first, last) of `contours`, which must stay until the last search.
  void build(const ContoursView& contours, std::uint32_t first, std::uint32_t last);
  /// Takes a contour out.
  void remove(std::uint32_t contour);
  /// The contour in the tree with a point nearest to one of contour `from`; of several, the first.
  Nearest nearest(std::uint32_t from);
  /// The contour in the tree with a point nearest to point `from` of the frame; of several, the first.
  Nearest nearest_to_point(std::uint32_t from);

 private:
  struct Leaf {
    Box box;
    std::uint32_t contour = 0, begin = 0, end = 0;  // points
    std::uint32_t node = 0;                         // the node that has it
  };
  /// Nodes are numbered as in a heap: node i has children 2 i + 1 and 2 i + 2. The last ones have leaves.
  struct Node {
    Box box;
    std::uint32_t begin = 0, end = 0;  // leaves, in their order
    std::uint32_t alive = 0;           // leaves or children that are still there
    std::uint32_t contour = 0;         // the first that is still there
  };
  struct Visit {
    std::uint32_t node;
    double squared;
  };
  /// How many points a leaf has at most, and how many leaves a node without children.
  struct Grain {
    std::uint32_t run, leaves;
  };
  static constexpr Grain kRuns{16, 4}, kPoints{1, 16};
  /// Comparisons a point at most with leaves of runs: many times what they take where they lie apart.
  static constexpr std::uint64_t kMostCompared = 512;

  static std::uint64_t most_leaves(const ContoursFormat& format);
  static std::uint64_t most_nodes(std::uint64_t leaves, const Grain& grain);
  static std::uint64_t most_nodes(const ContoursFormat& format);
  void build(const Grain& grain);
  /// From now on a leaf for every point, if leaves of runs have taken too much.
  void refine_if_slow();
  void add_leaves(std::uint32_t contour);
  /// The leaf of points [begin, end) of a contour.
  Leaf leaf_of(std::uint32_t contour, std::uint32_t begin, std::uint32_t end) const;
  void split(std::uint32_t node, std::uint32_t begin, std::uint32_t end);
  void find_first(std::uint32_t node);
  void search(const Leaf& from, Nearest& best);
  void compare(const Leaf& from, const Leaf& to, Nearest& best);

  OpenPoints open_ = OpenPoints::All;
  const ContoursView* contours_ = nullptr;
  Leaf* leaves_ = nullptr;
  std::uint32_t* order_ = nullptr;       // leaves in the order of the tree
  std::uint32_t* first_leaf_ = nullptr;  // of each contour
  Node* nodes_ = nullptr;
  std::uint8_t* gone_ = nullptr;  // of each contour: 1 if it was taken out
  std::uint32_t leaf_count_ = 0, first_contour_ = 0, last_contour_ = 0;
  Grain grain_ = kRuns;
  std::uint64_t compared_ = 0, most_compared_ = 0;
};

}  // namespace contorno
