#include "stages/contours/cpu/link_band.h"

#include <bit>
#include <cstring>

#include "stages/contours/cpu/band_segments.h"
#include "stages/contours/rules/keep_contour.h"

namespace contorno {
namespace {

/// One band's work. `Suspect`: some sample of the band needs a closer look.
template <bool Suspect>
class BandLinker {
 public:
  BandLinker(const Band& band, const CellBits& cells, const WalkTable& table, const ChunkPool& pool)
      : band_(band),
        cells_(cells),
        table_(table),
        pool_(pool),
        row_words_(cells.bits().row_words),
        row_bits_(cells.bits().row_bits()),
        first_word_((band.first_row - 1) * row_words_),
        runs_(pool, ChunkKind::Runs, band.task),
        details_(pool, ChunkKind::Details, band.task),
        sections_(pool, ChunkKind::Sections, band.task) {}

  BandResult link(const LevelWords& words);

 private:
  struct Cursor {
    std::int64_t position = 0;
    std::uint32_t entry = 0;  // 16 * the side the segment comes from (forward) or goes to (backward)
  };
  // A walk in one direction: how many segments, and what lies behind the last one.
  struct Walk {
    std::int64_t count = 0;
    std::uint64_t last = kNoSegment;
    std::uint64_t beyond = kNoSegment;  // the next segment, if it is in another band
    bool closed = false;
    Section rest{};  // segments behind the last full section
  };

  void link_words(std::int64_t row, const WordRange& range);
  std::uint32_t find_listed(const LevelWords& words);
  void trace(std::uint64_t origin);
  template <bool Forward>
  Walk walk(Cursor cursor);
  template <bool Forward>
  Walk end_of_walk(const Cursor& cursor) const;
  template <bool Forward>
  bool advance(Cursor& cursor, const Step& step) const;
  Cursor cursor_at(std::uint64_t segment, bool forward) const;
  void add_section(std::uint64_t segment, std::int64_t rank, std::int64_t count);
  Detail* detail_of_run();
  void finish_run(const Walk& forward, const Walk& backward);

  std::uint64_t& unvisited(std::int64_t position, std::uint32_t sub) {
    return band_.unvisited[2 * ((position >> 6) - first_word_) + sub];
  }

  const Band& band_;
  const CellBits& cells_;
  const WalkTable& table_;
  const ChunkPool& pool_;
  std::int64_t row_words_, row_bits_, first_word_;
  ChunkList<Run> runs_;
  ChunkList<Detail> details_;
  ChunkList<Section> sections_;
  BandResult result_;
  std::uint64_t found_ = 0;  // runs so far: their order

  // The run that is being traced.
  std::uint64_t origin_ = 0, largest_ = 0;
  std::int64_t largest_rank_ = 0;
  Detail* detail_ = nullptr;
};

template <bool Suspect>
BandResult BandLinker<Suspect>::link(const LevelWords& words) {
  const auto row_size = static_cast<std::size_t>(2 * row_words_);
  const std::int64_t rows = band_.end_row - band_.first_row;
  std::memset(band_.unvisited, 0, row_size * sizeof(std::uint64_t));
  std::memset(band_.unvisited + row_size * static_cast<std::size_t>(rows + 1), 0,
              row_size * sizeof(std::uint64_t));
  if (!words.are_all()) {
    const std::uint32_t count = find_listed(words);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::int64_t word = band_.words[i];
      link_words(word / row_words_, {word % row_words_, word % row_words_ + 1});
    }
  } else {
    const WordRange all{0, row_words_};
    for (std::int64_t row = band_.first_row; row < band_.end_row; ++row)
      find_segments(cells_, row, all, &unvisited(row * row_bits_, 0));
    for (std::int64_t row = band_.first_row; row < band_.end_row; ++row) link_words(row, all);
  }
  result_.runs = runs_.first();
  return result_;
}

/// Finds the segments of the words that a level may cross, and lists these. A walk that leaves them looks no
/// farther than at the column of samples that begins no cell.
template <bool Suspect>
std::uint32_t BandLinker<Suspect>::find_listed(const LevelWords& words) {
  std::uint32_t count = 0;
  for (std::int64_t row = band_.first_row; row < band_.end_row; ++row) {
    const std::int64_t last = row * row_bits_ + row_bits_ - 64;
    unvisited(last, 0) = unvisited(last, 1) = 0;
  }
  words.spans.for_words(words.rank, band_.first_row, band_.end_row, [&](std::int64_t row, std::int64_t word) {
    find_segments(cells_, row, {word, word + 1}, &unvisited(row * row_bits_, 0));
    band_.words[count++] = static_cast<std::uint32_t>(row * row_words_ + word);
  });
  return count;
}

template <bool Suspect>
void BandLinker<Suspect>::link_words(std::int64_t row, const WordRange& range) {
  const std::uint64_t* found = &unvisited(row * row_bits_, 0);
  for (std::int64_t word = range.begin; word < range.end; ++word) {
    while ((found[2 * word] | found[2 * word + 1]) != 0) {
      const int bit = std::countr_zero(found[2 * word] | found[2 * word + 1]);
      const std::uint64_t sub = (found[2 * word] >> bit & 1) ^ 1;
      trace(2 * static_cast<std::uint64_t>(row * row_bits_ + 64 * word + bit) + sub);
    }
  }
}

template <bool Suspect>
typename BandLinker<Suspect>::Cursor BandLinker<Suspect>::cursor_at(std::uint64_t segment,
                                                                    bool forward) const {
  const auto position = static_cast<std::int64_t>(segment >> 1);
  const auto index = 2 * cells_.code(position) + static_cast<unsigned>(segment & 1);
  return {position, forward ? table_.from[index] : table_.to[index]};
}

/// To the cell where the contour goes on. False: it ends here.
template <bool Suspect>
template <bool Forward>
bool BandLinker<Suspect>::advance(Cursor& cursor, const Step& step) const {
  if constexpr (Suspect) {
    if (cells_.is_suspect(cursor.position / row_bits_, cursor.position % row_bits_)) {
      const std::uint64_t segment = 2 * static_cast<std::uint64_t>(cursor.position) + step.sub;
      const std::uint64_t other = Forward ? cells_.successor(segment) : cells_.predecessor(segment);
      if (other == kNoSegment) return false;
      cursor = cursor_at(other, Forward);
      return true;
    }
  }
  cursor = {cursor.position + step.move, step.next};
  return true;
}

template <bool Suspect>
template <bool Forward>
typename BandLinker<Suspect>::Walk BandLinker<Suspect>::walk(Cursor cursor) {
  const Step* steps = Forward ? table_.forward : table_.backward;
  std::int64_t count = 0, largest_rank = largest_rank_;
  std::uint64_t largest = largest_, section_first = 0, id = 0;
  bool ended = false;
  while (!ended) {
    const Step& step = steps[cursor.entry + cells_.code(cursor.position)];
    std::uint64_t& word = unvisited(cursor.position, step.sub);
    const std::uint64_t bit = std::uint64_t{1} << (cursor.position & 63);
    if ((word & bit) == 0) break;
    word ^= bit;
    id = 2 * static_cast<std::uint64_t>(cursor.position) + step.sub;
    const std::int64_t rank = Forward ? count : -1 - count;
    largest_rank = id > largest ? rank : largest_rank;
    largest = id > largest ? id : largest;
    if (count % kSectionSegments == 0) section_first = id;
    ++count;
    if (count % kSectionSegments == 0) {
      if (Forward)
        add_section(section_first, count - kSectionSegments, kSectionSegments);
      else
        add_section(id, -count, kSectionSegments);
    }
    ended = !advance<Forward>(cursor, step);
  }
  largest_ = largest;
  largest_rank_ = largest_rank;
  const std::int64_t rest = count % kSectionSegments;
  Walk walk = ended ? Walk{} : end_of_walk<Forward>(cursor);
  walk.count = count;
  walk.last = id;
  walk.rest = Forward ? Section{nullptr, section_first, count - rest, static_cast<std::uint64_t>(rest)}
                      : Section{nullptr, id, -count, static_cast<std::uint64_t>(rest)};
  return walk;
}

/// The walk stopped before a cell without an unvisited segment: why?
template <bool Suspect>
template <bool Forward>
typename BandLinker<Suspect>::Walk BandLinker<Suspect>::end_of_walk(const Cursor& cursor) const {
  if (cursor.position < 0) return {};
  const std::int64_t row = cursor.position / row_bits_;
  if (row >= band_.first_row && row < band_.end_row) {
    const Step& step =
        (Forward ? table_.forward : table_.backward)[cursor.entry + cells_.code(cursor.position)];
    const bool came_back = 2 * static_cast<std::uint64_t>(cursor.position) + step.sub == origin_;
    return {.closed = came_back && cells_.is_cell(row, cursor.position % row_bits_)};
  }
  if (!cells_.is_cell(row, cursor.position % row_bits_)) return {};
  const Step& step =
      (Forward ? table_.forward : table_.backward)[cursor.entry + cells_.code(cursor.position)];
  return {.beyond = 2 * static_cast<std::uint64_t>(cursor.position) + step.sub};
}

template <bool Suspect>
void BandLinker<Suspect>::trace(std::uint64_t origin) {
  origin_ = largest_ = origin;
  largest_rank_ = 0;
  detail_ = nullptr;
  const Walk forward = walk<true>(cursor_at(origin, true));
  Walk backward;
  if (!forward.closed) {
    // The origin itself has been visited: the way back begins before it.
    Cursor cursor = cursor_at(origin, false);
    const Step& step = table_.backward[cursor.entry + cells_.code(cursor.position)];
    if (advance<false>(cursor, step)) backward = walk<false>(cursor);
  }
  finish_run(forward, backward);
}

template <bool Suspect>
void BandLinker<Suspect>::finish_run(const Walk& forward, const Walk& backward) {
  const std::uint64_t order = found_++;
  const auto length = static_cast<std::uint64_t>(forward.count + backward.count);
  const bool fragment = forward.beyond != kNoSegment || backward.beyond != kNoSegment;
  const std::uint64_t first = backward.count > 0 ? backward.last : origin_;
  if (!fragment) {
    if (!keep_contour(length, band_.min_points)) {
      if (detail_ != nullptr) detail_->dropped = true;
      return;
    }
    result_.points += points_of(length);
    result_.contours += 1;
  } else {
    result_.has_fragments = true;
  }
  Run* run = runs_.add();
  if (run == nullptr) return;
  Chunk* chunk = runs_.last();
  if (!fragment) {
    chunk->points += points_of(length);
    chunk->contours += 1;
  }
  if (!fragment && detail_ == nullptr) {
    *run = {first | (forward.closed ? Run::kClosed : 0), static_cast<std::uint32_t>(length),
            static_cast<std::uint32_t>(largest_rank_)};
    return;
  }
  Detail* detail = detail_of_run();
  if (detail == nullptr) return;
  chunk->has_details = 1;
  *run = {first | Run::kDetailed, 0, pool_.name_of(detail)};
  detail->first = first;
  detail->length = length;
  detail->before = backward.count;
  detail->largest = largest_;
  detail->largest_rank = largest_rank_;
  detail->next_segment = forward.beyond;
  detail->order = (std::uint64_t{band_.task} << 32) + order;
  detail->closed = forward.closed;
  detail->fragment = fragment;
  detail->chunk = chunk;
  detail->total = length;
  detail->cut = static_cast<std::uint64_t>(largest_rank_ + backward.count);
  if (backward.beyond != kNoSegment) {
    detail->has_previous = true;
    band_.entry(first, row_bits_, cells_.bits().width) = detail;
  }
  for (const Section& rest : {forward.rest, backward.rest})
    if (rest.count != 0) add_section(rest.segment, rest.rank, static_cast<std::int64_t>(rest.count));
}

template <bool Suspect>
Detail* BandLinker<Suspect>::detail_of_run() {
  if (detail_ == nullptr) detail_ = details_.add();
  if (detail_ != nullptr) detail_->owner = detail_;
  return detail_;
}

template <bool Suspect>
void BandLinker<Suspect>::add_section(std::uint64_t segment, std::int64_t rank, std::int64_t count) {
  Detail* detail = detail_of_run();
  Section* section = detail != nullptr ? sections_.add() : nullptr;
  if (section != nullptr) *section = {detail, segment, rank, static_cast<std::uint64_t>(count)};
}

bool any_suspect(const Band& band, const PlaneBits& bits) {
  std::uint8_t flags = 0;
  for (std::int64_t row = band.first_row; row <= band.end_row; ++row) flags |= bits.row_flags[row];
  return (flags & kRowHasSuspect) != 0;
}

}  // namespace

Detail*& Band::entry(std::uint64_t segment, std::int64_t row_bits, int width) const {
  const auto position = static_cast<std::int64_t>(segment >> 1);
  const std::int64_t row = position / row_bits, col = position % row_bits;
  return entries[(row == first_row ? 0 : 2 * std::int64_t{width}) + 2 * col +
                 static_cast<std::int64_t>(segment & 1)];
}

BandResult link_band(const Band& band, const CellBits& cells, const LevelWords& words, const WalkTable& table,
                     const ChunkPool& pool) {
  if (any_suspect(band, cells.bits())) return BandLinker<true>(band, cells, table, pool).link(words);
  return BandLinker<false>(band, cells, table, pool).link(words);
}

}  // namespace contorno
