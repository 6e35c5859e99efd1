// Adds up what the frames of a run show of objects, and makes a record of each when it has left. On the host,
// of contours with the attributes Id, Object and Share, frame by frame in order: so records are the same on
// every backend, with any number of slots, and whatever was run again. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pipeline/value/contours.h"
#include "pipeline/value/objects.h"

namespace contorno {

class ObjectLedger {
 public:
  explicit ObjectLedger(ObjectsRule rule);
  ~ObjectLedger();
  ObjectLedger(ObjectLedger&&) noexcept;

  const ObjectsRule& rule() const { return *rule_; }
  /// A frame whose contours were looked for, but which nobody will get: any object may have been seen in it.
  void note_hidden(std::uint64_t frame);
  /// The next frame. Gives the records of the objects that have left by now, in the order of their ids, empty
  /// mostly. Where the frame's number is not greater than that of the frame before, all have left.
  std::vector<ObjectRecord> add(const ContoursView& contours, const SeenIn& frame);
  /// The stream has ended: gives the records of the objects that are left.
  std::vector<ObjectRecord> finish();
  /// So far, without the name of a stage.
  const ObjectTotals& totals() const { return totals_; }

 private:
  struct Series;
  struct Open;

  Open* open_of(std::uint64_t id, const SeenIn& frame);
  void look_at_outlines(const ContoursView& contours, const SeenIn& frame);
  void add_up(const ContoursView& contours);
  void end_view(Open& open, const SeenIn& frame) const;
  ObjectRecord close(Open& open);
  template <class HasLeft>
  void close_if(const HasLeft& has_left, std::vector<ObjectRecord>& records);

  std::unique_ptr<const ObjectsRule> rule_;  // records point at it
  bool has_whole_ = false;                   // some class is part of the whole
  ObjectTotals totals_;
  std::vector<std::unique_ptr<Open>> open_, idle_;  // open ones by ids
  bool begun_ = false;
  std::uint64_t last_frame_ = 0, hidden_frame_ = 0;
};

}  // namespace contorno
