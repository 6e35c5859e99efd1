#include "pipeline/value/object_ledger.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "pipeline/value/object_views.h"

namespace contorno {

/// A number of each whole view, and what becomes of it.
struct ObjectLedger::Series {
  double largest = 0, sum = 0;
  std::vector<double> kept;  // for the median

  void clear() {
    largest = sum = 0;
    kept.clear();
  }
  void thin_out() {
    for (std::size_t i = 0; 2 * i < kept.size(); ++i) kept[i] = kept[2 * i];
    kept.resize((kept.size() + 1) / 2);
  }
  ViewNumbers numbers(std::uint64_t views) {
    if (views == 0) return {};
    std::sort(kept.begin(), kept.end());
    const std::size_t middle = kept.size() / 2;
    const double median = kept.size() % 2 != 0 ? kept[middle] : (kept[middle - 1] + kept[middle]) / 2;
    return {.largest = largest, .mean = sum / static_cast<double>(views), .median = median};
  }
};

/// An object whose record is not made yet.
struct ObjectLedger::Open {
  struct OfClass {
    Series share, count;
    std::optional<SeenIn> best;
    double share_now = 0, count_now = 0;
  };
  std::uint64_t id = 0, views = 0, whole_views = 0;
  std::uint64_t stride = 1;  // one whole view in so many is kept for the median
  SeenIn first, last;
  Series area;
  std::vector<OfClass> classes;
  // What follows is about the frame in work.
  bool is_seen = false, is_whole = false;
  double area_now = 0;

  void begin(std::uint64_t new_id, const SeenIn& frame, std::size_t count) {
    id = new_id, views = whole_views = 0, stride = 1, first = last = frame;
    area.clear();
    classes.resize(count);
    for (OfClass& one : classes) {
      one.share.clear(), one.count.clear();
      one.best.reset();
    }
    is_seen = false;
  }
  /// Calls use(series, its number of the frame in work) for each.
  template <class Use>
  void for_series(const Use& use) {
    use(area, area_now);
    for (OfClass& one : classes) use(one.share, one.share_now), use(one.count, one.count_now);
  }
};

ObjectLedger::ObjectLedger(ObjectsRule rule) : rule_(std::make_unique<ObjectsRule>(std::move(rule))) {
  has_whole_ = std::ranges::any_of(rule_->classes, &ObjectClass::whole);
  totals_.name = rule_->name;
  totals_.threshold = rule_->threshold;
  for (const ObjectClass& one : rule_->classes)
    if (one.defect) totals_.over.push_back({.name = one.name});
}

ObjectLedger::~ObjectLedger() = default;
ObjectLedger::ObjectLedger(ObjectLedger&&) noexcept = default;

void ObjectLedger::note_hidden(std::uint64_t frame) {
  hidden_frame_ = std::max(hidden_frame_, frame);
}

std::vector<ObjectRecord> ObjectLedger::add(const ContoursView& contours, const SeenIn& frame) {
  std::vector<ObjectRecord> records;
  if (begun_ && frame.frame <= last_frame_) {
    close_if([](const Open&) { return true; }, records);
    hidden_frame_ = 0;
  }
  begun_ = true, last_frame_ = frame.frame;
  for (const auto& open : open_) open->is_seen = false;
  look_at_outlines(contours, frame);
  add_up(contours);
  for (const auto& open : open_)
    if (open->is_seen) end_view(*open, frame);
  close_if(
      [&](const Open& open) {
        return frame.frame - std::max(open.last.frame, std::min(hidden_frame_, frame.frame)) >
               rule_->max_missed;
      },
      records);
  return records;
}

std::vector<ObjectRecord> ObjectLedger::finish() {
  std::vector<ObjectRecord> records;
  close_if([](const Open&) { return true; }, records);
  for (ObjectRecord& record : records) record.left = false;
  return records;
}

/// The object with this id, which is opened if there is room; null otherwise.
ObjectLedger::Open* ObjectLedger::open_of(std::uint64_t number, const SeenIn& frame) {
  const auto at = std::ranges::lower_bound(open_, number, {}, [](const auto& open) { return open->id; });
  if (at != open_.end() && (*at)->id == number) return at->get();
  if (open_.size() >= rule_->max_objects) {
    ++totals_.views_left_out;
    return nullptr;
  }
  std::unique_ptr<Open> made;
  if (idle_.empty()) {
    made = std::make_unique<Open>();
  } else {
    made = std::move(idle_.back());
    idle_.pop_back();
  }
  made->begin(number, frame, rule_->classes.size());
  return open_.insert(at, std::move(made))->get();
}

void ObjectLedger::look_at_outlines(const ContoursView& contours, const SeenIn& frame) {
  for_object_views(contours, *rule_, [&](const ObjectView& view) {
    Open* const open = open_of(view.id, frame);
    if (open == nullptr) return;
    open->is_seen = true;
    open->area_now = view.area, open->is_whole = view.whole;
    for (auto& one : open->classes) one.share_now = one.count_now = 0;
  });
}

/// Adds the shares of the frame's contours, and how many of them are no holes.
void ObjectLedger::add_up(const ContoursView& contours) {
  const double *const ids = contours.column(Attribute::Id),
                      *const objects = contours.column(Attribute::Object),
                      *const shares = contours.column(Attribute::Share);
  for (std::size_t k = 0; k < rule_->classes.size(); ++k)
    for (std::uint32_t i = contours.class_begin[k]; i < contours.class_begin[k + 1]; ++i) {
      if (std::isnan(objects[i])) continue;
      const auto at = std::ranges::lower_bound(open_, static_cast<std::uint64_t>(objects[i]), {},
                                               [](const auto& open) { return open->id; });
      if (at == open_.end() || static_cast<double>((*at)->id) != objects[i]) continue;
      Open::OfClass& one = (*at)->classes[k];
      if (!std::isnan(shares[i])) one.share_now += shares[i];
      if (!std::isnan(ids[i])) ++one.count_now;
    }
}

void ObjectLedger::end_view(Open& open, const SeenIn& frame) const {
  ++open.views;
  open.last = frame;
  double whole = has_whole_ ? 0 : 1;
  for (std::size_t k = 0; k < rule_->classes.size(); ++k)
    if (rule_->classes[k].whole) whole += open.classes[k].share_now;
  if (!open.is_whole || !(whole > 0)) return;
  const bool is_kept = open.whole_views++ % open.stride == 0;
  if (is_kept && open.area.kept.size() == rule_->max_views) {
    open.for_series([](Series& series, double) { series.thin_out(); });
    open.stride *= 2;
  }
  for (Open::OfClass& one : open.classes) {
    one.share_now /= whole;
    if (one.count_now > 0 && (!one.best || one.share_now > one.share.largest)) one.best = frame;
  }
  const bool is_first = open.whole_views == 1, is_still_kept = (open.whole_views - 1) % open.stride == 0;
  open.for_series([&](Series& series, double now) {
    series.largest = is_first ? now : std::max(series.largest, now);
    series.sum += now;
    if (is_still_kept) series.kept.push_back(now);
  });
}

ObjectRecord ObjectLedger::close(Open& open) {
  ObjectRecord record{.id = open.id,
                      .views = open.views,
                      .whole_views = open.whole_views,
                      .median_views = open.area.kept.size(),
                      .first = open.first,
                      .last = open.last,
                      .area = open.area.numbers(open.whole_views),
                      .classes = {}};
  ++totals_.objects;
  if (open.whole_views == 0) ++totals_.never_whole;
  auto over = totals_.over.begin();
  for (std::size_t k = 0; k < rule_->classes.size(); ++k) {
    Open::OfClass& of = open.classes[k];
    const ObjectClass& spec = rule_->classes[k];
    ObjectShare one{.share = of.share.numbers(open.whole_views),
                    .count = of.count.numbers(open.whole_views),
                    .best = of.best};
    one.is_over = spec.defect && one.share.largest > rule_->threshold;
    if (one.is_over) ++over->objects;
    if (spec.defect) ++over;
    record.classes.push_back(one);
  }
  return record;
}

template <class HasLeft>
void ObjectLedger::close_if(const HasLeft& has_left, std::vector<ObjectRecord>& records) {
  for (auto& open : open_) {
    if (!has_left(*open)) continue;
    records.push_back(close(*open));
    idle_.push_back(std::move(open));
  }
  std::erase(open_, nullptr);
}

}  // namespace contorno
