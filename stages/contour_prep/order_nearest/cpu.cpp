// The declaration of order_nearest, and its implementation on the CPU.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "geometry/box_tree.h"
#include "geometry/contour_size.h"
#include "stages/contour_prep/order_nearest/stage.h"
#include "stages/contour_prep/shared/arrays.h"
#include "stages/contour_prep/shared/contour_step.h"
#include "stages/contour_prep/shared/outputs.h"

namespace contorno {
namespace {

/// Contours [first, last), in which order they are, and which of them are in it.
class ClassOrder {
 public:
  /// `visited` has a flag for each contour of the frame, `sources` a number for each of the class.
  ClassOrder(std::uint32_t first, std::uint32_t last, std::uint8_t* visited, std::uint32_t* sources)
      : next_in_order_(first), last_(last), visited_(visited), sources_(sources) {
    std::fill(visited_ + first, visited_ + last, std::uint8_t{0});
  }
  void add(std::uint32_t contour) {
    *sources_++ = contour;
    visited_[contour] = 1;
  }
  /// The first one that is left; `last` when there is none.
  std::uint32_t first_left() {
    while (next_in_order_ < last_ && visited_[next_in_order_] != 0) ++next_in_order_;
    return next_in_order_;
  }

 private:
  std::uint32_t next_in_order_, last_;
  std::uint8_t* visited_;
  std::uint32_t* sources_;
};

/// Which of the starts of a contour is nearest to `pen`; of several, the first.
std::uint32_t nearest_start(const OwnPoints& own, const Point& pen) {
  double least = std::numeric_limits<double>::infinity();
  std::uint32_t nearest = 0;
  for (std::uint32_t i = 0; i < start_count(own); ++i) {
    const double squared = squared_distance(pen, own.points[start_of(own, i)]);
    if (squared < least) least = squared, nearest = start_of(own, i);
  }
  return nearest;
}

/// The distance that the pen travels between two points, in 2^-20 px (kSizeUnits); -1 where a coordinate is
/// not finite, and of 10^12 px and more.
std::int64_t travel_between(const Point& a, const Point& b) {
  constexpr double kMost = 1e12;
  const double way = std::sqrt(squared_distance(a, b));
  return way < kMost ? in_size_units(way) : -1;
}

/// Contours of a class that `2opt` takes, which tries all parts of their order in each pass.
constexpr std::uint32_t kMostTurned = 16384;

/// The order in which the contours of a class are drawn. Owns nothing.
struct PenPath {
  ContoursView in;
  std::uint32_t* order = nullptr;          ///< the contour at each place
  std::uint32_t* starts = nullptr;         ///< the own point with which each contour of the frame begins
  Point *downs = nullptr, *ups = nullptr;  ///< where the pen sets down and lifts, at each place
  std::uint32_t count = 0;                 ///< places

  void find_ends(std::uint32_t place) const {
    const OwnPoints own(in, order[place]);
    downs[place] = pen_down(own, starts[order[place]]);
    ups[place] = pen_up(own, starts[order[place]]);
  }

  /// The travel to a place, which is not the first; as travel_between.
  std::int64_t travel_to(std::uint32_t place) const { return travel_between(ups[place - 1], downs[place]); }
  /// How much shorter the travels become, in the same units, when places `first` to `last` are drawn in the
  /// opposite order; 0 or less where one of them is not known. 0 < first <= last; `before` is
  /// travel_to(first).
  std::int64_t gain(std::int64_t before, std::uint32_t first, std::uint32_t last) const {
    const bool is_end = last + 1 == count;
    const std::int64_t behind = is_end ? 0 : travel_to(last + 1);
    const std::int64_t new_before = travel_between(ups[first - 1], ups[last]);
    if (before < 0 || behind < 0 || new_before < 0 || new_before >= before + behind) return 0;
    const std::int64_t new_behind = is_end ? 0 : travel_between(downs[first], downs[last + 1]);
    return new_behind < 0 ? 0 : before + behind - new_before - new_behind;
  }

  /// Exchanges the contours at two places, which may be the same, and reverses those that are open.
  void turn(std::uint32_t a, std::uint32_t b) const {
    const std::uint32_t contour = order[a];
    const Point down = downs[a], up = ups[a];
    if (a != b) reverse(order[b]);
    reverse(contour);
    order[a] = order[b], order[b] = contour;
    downs[a] = ups[b], ups[a] = downs[b];
    downs[b] = up, ups[b] = down;
  }

 private:
  void reverse(std::uint32_t contour) const {
    const OwnPoints own(in, contour);
    if (!own.closed && own.count > 0) starts[contour] = own.count - 1 - starts[contour];
  }
};

/// For a frame with a class that has more.
[[noreturn]] void throw_too_many_to_turn() {
  throw Error(ExitCode::BadData,
              fmt::format("order_nearest: a class has more than {} contours, allowed up to {} with order: "
                          "2opt, which tries all parts of their order; leave some out before (drop_small, "
                          "largest_first), or take order: endpoint",
                          kMostTurned, kMostTurned));
}

/// Turns parts of a path round, from each place on the part with the greatest gain.
void shorten(const PenPath& path, int passes) {
  bool improves = true;
  for (int pass = 0; pass < passes && improves; ++pass) {
    improves = false;
    for (std::uint32_t first = 1; first < path.count; ++first) {
      const std::int64_t before = path.travel_to(first);
      std::int64_t most = 0;
      std::uint32_t best = 0;
      for (std::uint32_t last = first; last < path.count; ++last)
        if (const std::int64_t gain = path.gain(before, first, last); gain > most) most = gain, best = last;
      if (most == 0) continue;
      improves = true;
      for (std::uint32_t a = first, b = best; a <= b; ++a, --b) path.turn(a, b);
    }
  }
}

struct PenArrays {
  DrawingOrder order;
  std::byte* tree = nullptr;
  std::uint8_t* visited = nullptr;         ///< a contour, as what follows
  std::uint32_t* starts = nullptr;         ///< not for Greedy
  Point *downs = nullptr, *ups = nullptr;  ///< only for TwoOpt

  void arrays(ArrayTaker& take, const ContoursFormat& format) {
    const std::size_t contours = format.contour_capacity;
    take(tree, BoxTree::bytes(format)), take(visited, contours);
    if (order != DrawingOrder::Greedy) take(starts, contours);
    if (order == DrawingOrder::TwoOpt) take(downs, contours), take(ups, contours);
  }
};

class OrderNearestCpu final : public Stage {
 public:
  explicit OrderNearestCpu(const OrderNearestParams& params) : params_(params) {}

  void plan(PlanContext& context) override {
    const auto& format = std::get<ContoursFormat>(context.input(0));
    arrays_.plan(context, MemoryKind::Host, format, PenArrays{params_.order});
    sources_ = context.temporary(format.contour_capacity * sizeof(std::uint32_t), MemoryKind::Host);
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    const auto& in = std::get<ContoursView>(context.inputs[0]);
    const auto& out = std::get<ContoursView>(context.outputs[0]);
    if (!begin_output(in, out)) return;
    auto* const sources = context.scratch<std::uint32_t>(sources_);
    const auto arrays = arrays_.of(context, PenArrays{params_.order});
    BoxTree tree(in.format, tree_points(), arrays.tree);
    for (int k = 0; k < in.format.classes; ++k) {
      const std::uint32_t first = in.class_begin[k], last = in.class_begin[k + 1];
      out.class_begin[k + 1] = last;
      if (first == last) continue;
      tree.build(in, first, last);
      ClassOrder order(first, last, arrays.visited, sources + first);
      if (!is_drawn()) {
        order_by_points(tree, first, last, order);
        continue;
      }
      order_by_ends(tree, in, first, last, order, arrays.starts);
      if (params_.order == DrawingOrder::TwoOpt) shorten_class(arrays, in, first, last, sources + first);
    }
    gather_contours(in, sources, out, arrays.starts);
  }

  std::optional<Scratch> selection() const override {
    return is_drawn() ? std::nullopt : std::optional(sources_);
  }

 private:
  bool is_drawn() const { return params_.order != DrawingOrder::Greedy; }
  BoxTree::OpenPoints tree_points() const {
    return is_drawn() ? BoxTree::OpenPoints::Ends : BoxTree::OpenPoints::All;
  }

  static void order_by_points(BoxTree& tree, std::uint32_t first, std::uint32_t last, ClassOrder& order) {
    std::uint32_t current = first;
    for (std::uint32_t placed = first; placed < last; ++placed) {
      order.add(current);
      tree.remove(current);
      current = tree.nearest(current).contour;
      // All that are left are infinitely far, or there is none.
      if (current == BoxTree::Nearest::kNone) current = order.first_left();
    }
  }

  static void order_by_ends(BoxTree& tree, const ContoursView& in, std::uint32_t first, std::uint32_t last,
                            ClassOrder& order, std::uint32_t* starts) {
    constexpr std::uint32_t kNone = BoxTree::Nearest::kNone;
    std::uint32_t current = first, start = 0, pen = kNone;  // the pen lies on a point of the frame
    for (std::uint32_t placed = first; placed < last; ++placed) {
      order.add(current);
      tree.remove(current);
      starts[current] = start;
      const OwnPoints own(in, current);
      if (own.count > 0) pen = own.begin + (own.closed ? start : own.count - 1 - start);
      current = pen == kNone ? kNone : tree.nearest_to_point(pen).contour;
      start = current == kNone ? 0 : nearest_start(OwnPoints(in, current), in.points[pen]);
      if (current == kNone) current = order.first_left();
    }
  }

  void shorten_class(const PenArrays& arrays, const ContoursView& in, std::uint32_t first, std::uint32_t last,
                     std::uint32_t* order) const {
    if (last - first > kMostTurned) throw_too_many_to_turn();
    const PenPath path{.in = in,
                       .order = order,
                       .starts = arrays.starts,
                       .downs = arrays.downs,
                       .ups = arrays.ups,
                       .count = last - first};
    for (std::uint32_t place = 0; place < path.count; ++place) path.find_ends(place);
    shorten(path, params_.passes);
  }

  OrderNearestParams params_;
  PlannedArrays arrays_;
  Scratch sources_;
};

ParamDeclaration order_nearest_params() {
  ParamList<OrderNearestParams> list;
  list.choice(
      "order", &OrderNearestParams::order,
      {{"greedy", DrawingOrder::Greedy},
       {"endpoint", DrawingOrder::Endpoint},
       {"2opt", DrawingOrder::TwoOpt}},
      "`greedy`: by the nearest points of contours, which stay as they are. `endpoint`: by the way of "
      "the pen from the end of one to the begin of the next; closed contours get another first point, "
      "and open ones may be turned round. `2opt`: the same, and then parts of the order are turned "
      "round where that makes ways shorter; only on the CPU.");
  list.integer("passes", &OrderNearestParams::passes, 1, 1000, Unit::None,
               "How often `2opt` looks at all places of the order, at most; it ends when nothing becomes "
               "shorter.");
  return declare(list);
}

}  // namespace

void throw_too_many_steps(std::uint32_t contours) {
  throw Error(
      ExitCode::BadData,
      fmt::format(
          "order_nearest: comparing the {} contours of a class with each other takes a device more than the "
          "{} "
          "steps in a row, or the {} in all, that are allowed; take backend: cpu, or leave some out before "
          "(drop_duplicates, drop_small, largest_first)",
          contours, kMostOrdering, kMostListing));
}

double pen_up_length(const ContoursView& contours) {
  std::int64_t units = 0;
  for (int k = 0; k < contours.format.classes; ++k) {
    std::optional<Point> pen;
    for (std::uint32_t c = contours.class_begin[k]; c < contours.class_begin[k + 1]; ++c) {
      const std::span<const Point> points = contours.contour(c);
      if (points.empty()) continue;
      if (pen) units += std::max<std::int64_t>(travel_between(*pen, points.front()), 0);
      pen = points.back();
    }
  }
  return static_cast<double>(units) / kSizeUnits;
}

const StageType& order_nearest_stage() {
  static const StageType type = contour_step({
      .name = "order_nearest",
      .summary = "Orders the contours of each class so that each is followed by the nearest one left.",
      .gives = "The same contours, with short ways in between.",
      .params = order_nearest_params(),
      .example = "- type: order_nearest\n",
      .make_cpu = make_step<OrderNearestCpu, OrderNearestParams>,
      .make_cuda = on_cuda<make_order_nearest_cuda>(),
      .only_on_cpu = {{"order", "2opt", "greedy or endpoint"}},
  });
  return type;
}

}  // namespace contorno
