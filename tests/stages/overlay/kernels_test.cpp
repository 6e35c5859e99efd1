// The kernels of overlay, run on the host by the emulator, against the CPU: the same insides, as many
// segments for every tile, and the same picture. Needs no device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include "stages/overlay/kernels.cuh"
#include "stages/overlay/label_kernel.cuh"
#include "stages/overlay/legend_kernel.cuh"
#include "stages/overlay/paint.cuh"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "stages/overlay/painter.h"
#include "tests/stages/compare_images.h"
#include "tests/stages/harness.h"

using namespace contorno;
using contorno::test::Random;
using contorno::test::TestContour;
using contorno::test::TestContours;

namespace {

constexpr int kMapWidth = 60, kMapHeight = 40, kClasses = 3;

/// Closed and open contours, among them such that end on every side of the map and in its corners.
std::vector<TestContour> random_contours(std::uint64_t seed) {
  Random random(seed);
  const auto on_border = [&]() -> std::pair<double, double> {
    const double along = random.unit();
    switch (random.below(4)) {
      case 0:
        return {std::floor(along * kMapWidth), 0};
      case 1:
        return {kMapWidth - 1, along * (kMapHeight - 1)};
      case 2:
        return {along * (kMapWidth - 1), kMapHeight - 1};
      default:
        return {0, std::floor(along * kMapHeight)};
    }
  };
  const auto anywhere = [&]() -> std::pair<double, double> {
    return {random.unit() * (kMapWidth - 1), random.unit() * (kMapHeight - 1)};
  };
  std::vector<TestContour> contours;
  for (int k = 0; k < kClasses; ++k)
    for (int i = 0; i < 9; ++i) {
      TestContour contour{k, i % 3 == 0, {}};
      contour.points.push_back(contour.closed || i == 1 ? anywhere() : on_border());
      const int points = 2 + static_cast<int>(random.below(50));
      for (int p = 0; p < points; ++p) contour.points.push_back(anywhere());
      contour.points.push_back(contour.closed ? contour.points.front() : on_border());
      contours.push_back(contour);
    }
  contours.back().points[1] = {std::nan(""), 3};
  return contours;
}

OverlayPlan plan_for(const ImageFormat& frame, const PointTransform& transform) {
  OverlayPlan plan;
  plan.format = frame;
  plan.grid = OverlayGrid(frame.width, frame.height);
  plan.transform = transform;
  plan.border = OverlayBorder(kMapWidth, kMapHeight, transform);
  plan.pens.resize(kClasses);
  plan.pens[0].fill = 100, plan.pens[2].fill = 50;
  plan.slots = {0, -1, 1};
  plan.filled = 2;
  plan.labels.assign(kClasses, -1);
  plan.count_ends.assign(kClasses, {-1, -1});
  plan.share_ends.assign(kClasses, {-1, -1});
  plan.wholes.assign(kClasses, false);
  return plan;
}

/// What either backend knows before the first pixel.
struct Prepared {
  std::vector<unsigned> inside, reached;  ///< words of the masks; segments that reach a tile
};

std::size_t tiles_of(const OverlayGrid& grid) {
  return static_cast<std::size_t>(grid.tiles_x) * static_cast<std::size_t>(grid.tiles_y);
}
std::size_t mask_words(const OverlayPlan& plan) {
  return static_cast<std::size_t>(plan.filled) * static_cast<std::size_t>(plan.grid.height) *
         static_cast<std::size_t>(plan.grid.tiles_x);
}

Prepared on_cpu(const OverlayPlan& plan, const ContoursView& contours) {
  Prepared result{std::vector<unsigned>(mask_words(plan), 0xA5A5A5A5U),
                  std::vector<unsigned>(tiles_of(plan.grid))};
  std::vector<FramePoint> points;
  for (std::uint64_t i = 0; i < contours.counts->points; ++i)
    points.push_back(plan.transform(contours.points[i]));
  OverlayWork work{};
  work.contours = &contours;
  work.points = points.data();
  work.tile_fill = result.reached.data();
  work.inside = result.inside.data();
  const OverlayPainter painter(plan);
  painter.count_references(work, 0, plan.grid.tiles_y);
  painter.find_insides(work, 0, plan.grid.tiles_y);
  return result;
}

/// The kernels of one frame, and what they work with.
class EmulatedOverlay {
 public:
  EmulatedOverlay(const OverlayPlan& plan, const ContoursView& contours, int labels = 0)
      : inside(mask_words(plan)), listed_(0xA5A5), touched_count_(0xA5A5) {
    const std::size_t tiles = tiles_of(plan.grid), bins = tiles * plan.pens.size();
    for (std::size_t k = 0; k < plan.pens.size(); ++k)
      classes_.push_back({plan.pens[k], plan.slots[k], plan.labels[k], plan.count_ends[k], plan.share_ends[k],
                          plan.wholes[k]});
    for (const Stamp& stamp : plan.stamps) {
      pictures_.push_back({stamp.size(), static_cast<unsigned>(pixels_.size())});
      pixels_.insert(pixels_.end(), stamp.pixels.begin(), stamp.pixels.end());
    }
    plan_job(plan, labels);
    touched_.resize(tiles), bin_count_.resize(bins), bin_begin_.resize(bins), bin_end_.resize(bins);
    points_.resize(contours.counts->points), point_class_.resize(contours.counts->points);
    boxes_.resize(contours.counts->contours), placed_.resize(plan.pens.size() * kMaxLabels);
    pieces_.resize((placed_.size() + 1) * static_cast<std::size_t>(plan.label_pieces));
    counted_.assign(plan.pens.size(), 0xA5A5);
    outlines_.resize(boxes_.size()), owners_.resize(boxes_.size()), by_id_.resize(boxes_.size());
    wholes_.assign(boxes_.size(), 0xA5A5), of_class_.assign(boxes_.size(), 0xA5A5);
    legend_pieces_.resize(LegendForm::pieces(plan.pens.size()));
    references_.resize(contours.counts->points * tiles);  // as many as there can be
    place_job(contours);
  }

  /// Makes the lists of segments and the insides, and with `in` and `out` the copy of the frame.
  void prepare(const ImageView* in = nullptr, const ImageView* out = nullptr) {
    job_.all_tiles = out == nullptr || job_.filled > 0 || job_.labels > 0;
    if (!job_.all_tiles) {
      job_.frame_words = static_cast<unsigned long long>(in->row_pitch * in->format.height) / 16;
      job_.copy_blocks = 3;
    }
    if (out != nullptr) {
      job_.in = static_cast<const unsigned char*>(in->data), job_.in_pitch = in->row_pitch;
      job_.out = static_cast<unsigned char*>(out->data), job_.out_pitch = out->row_pitch;
      job_.words = true;
    }
    emulated::run_grid(2 + job_.copy_blocks, overlay_cuda::kThreads, 0, false, [&] { bin_segments(job_); });
    emulated::run_grid(3, overlay_cuda::kThreads, 0, false, [&] { arrange(job_); });
    emulated::run_grid(2, overlay_cuda::kThreads, 0, false, [&] { list_segments(job_); });
  }
  /// Behind `prepare`. The states are those around the frame.
  void paint(const LegendState* before = nullptr, LegendState* after = nullptr) {
    using namespace overlay_cuda;
    job_.state_before = before, job_.state_after = after;
    if (job_.legend_form.shown)
      emulated::run_grid(1, overlay_cuda::kThreads, sizeof(LegendShared), false,
                         [&] { count_objects(job_); });
    if (job_.labels > 0)
      emulated::run_grid(1, overlay_cuda::kThreads, sizeof(LabelShared), false, [&] { place_labels(job_); });
    emulated::run_grid(5, kPaintThreads, sizeof(PaintShared), false, [&] {
      if (job_.channels == 4)
        paint_tiles<4>(job_);
      else
        paint_tiles<3>(job_);
    });
  }

  /// Segments in the lists of a tile.
  std::vector<unsigned> reached() const {
    std::vector<unsigned> all(touched_.size());
    for (std::size_t bin = 0; bin < bin_end_.size(); ++bin)
      all[bin / classes_.size()] += bin_end_[bin] - bin_begin_[bin];
    return all;
  }
  bool counts_are_zero() const {
    return std::all_of(bin_count_.begin(), bin_count_.end(), [](unsigned v) { return v == 0; });
  }

  std::vector<unsigned> inside;

 private:
  void plan_job(const OverlayPlan& plan, int labels) {
    job_.grid = plan.grid, job_.transform = plan.transform, job_.border = plan.border;
    job_.classes = static_cast<int>(plan.pens.size()), job_.filled = plan.filled;
    job_.channels = plan.format.channels;
    job_.class_table = classes_.data(), job_.pictures = pictures_.data(), job_.pixels = pixels_.data();
    job_.has_legend = plan.legend >= 0, job_.legend = plan.legend_place;
    job_.first_digit = plan.first_digit, job_.labels = labels;
    job_.legend_form = plan.legend_form, job_.has_shares = plan.has_shares();
    job_.label_form = plan.label_form, job_.label_pieces = plan.label_pieces;
    job_.has_markers = std::any_of(plan.pens.begin(), plan.pens.end(),
                                   [](const OverlayPen& pen) { return pen.marker > 0.0F; });
  }
  void place_job(const ContoursView& contours) {
    job_.reference_capacity = references_.size();
    job_.contours = contours;
    job_.listed = &listed_, job_.touched_count = &touched_count_, job_.touched = touched_.data();
    job_.bin_count = bin_count_.data(), job_.bin_begin = bin_begin_.data(), job_.bin_end = bin_end_.data();
    job_.inside = inside.data(), job_.references = references_.data(), job_.points = points_.data();
    job_.point_class = point_class_.data(), job_.boxes = boxes_.data(), job_.placed = placed_.data();
    job_.pieces = pieces_.data();
    if (job_.first_digit >= 0) job_.counted = counted_.data();
    job_.legend_work = {outlines_.data(), owners_.data(), wholes_.data(), of_class_.data(), by_id_.data()};
    job_.legend_pieces = legend_pieces_.data(), job_.legend_piece_count = &legend_piece_count_;
    job_.placed_count = &placed_count_, job_.outcome = &outcome_;
  }

  std::vector<overlay_cuda::Class> classes_;
  std::vector<overlay_cuda::Picture> pictures_;
  std::vector<Colour> pixels_;
  std::vector<unsigned> counted_, touched_, bin_count_, bin_begin_, bin_end_, references_, point_class_;
  std::vector<FramePoint> points_;
  std::vector<LabelBox> boxes_;
  std::vector<PlacedLabel> placed_;
  std::vector<PlacedStamp> pieces_, legend_pieces_;
  std::vector<std::uint32_t> outlines_, owners_, by_id_;
  std::vector<unsigned long long> wholes_, of_class_;
  int legend_piece_count_ = 0;
  unsigned long long listed_;
  unsigned touched_count_;
  int placed_count_ = 0;
  overlay_cuda::Outcome outcome_;
  overlay_cuda::Job job_;
};

Prepared emulated_kernels(const OverlayPlan& plan, const ContoursView& contours) {
  EmulatedOverlay kernels(plan, contours);
  kernels.prepare();
  CHECK(kernels.counts_are_zero());
  return {kernels.inside, kernels.reached()};
}

/// Every letter is a box, of a grey of its own.
class BoxText final : public TextRasteriser {
 public:
  TextBitmap rasterise(std::string_view text, int height) const override {
    const int letter = height / 2, width = static_cast<int>(text.size()) * letter;
    TextBitmap bitmap{width, height, {}};
    for (int i = 0; i < width * height; ++i)
      bitmap.coverage.push_back(
          static_cast<std::uint8_t>(text[static_cast<std::size_t>(i % width / letter)] * 41));
    return bitmap;
  }
};

}  // namespace

TEST_CASE("the kernels of overlay find the CPU's insides, of open contours at the border too") {
  const struct {
    ImageFormat frame;
    PointTransform transform;
  } places[] = {{{.width = 120, .height = 80, .channels = 3}, {2, 2, 0.5, 0.5}},
                {{.width = 60, .height = 40, .channels = 3}, {}},
                {{.width = 1100, .height = 45, .channels = 3}, {18.2, 0.9, 8.6, -0.05}},
                {{.width = 97, .height = 71, .channels = 3}, {1, 1, 21, 13}}};
  for (const auto& place : places)
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      CAPTURE(place.frame.width);
      CAPTURE(seed);
      const TestContours contours(kMapWidth, kMapHeight, kClasses, random_contours(seed));
      const OverlayPlan plan = plan_for(place.frame, place.transform);
      const Prepared expected = on_cpu(plan, contours.view), found = emulated_kernels(plan, contours.view);
      CHECK(found.inside == expected.inside);
      CHECK(found.reached == expected.reached);
    }
}

TEST_CASE("the kernels of overlay draw the CPU's picture") {
  struct Case {
    int width, height, channels, classes;
    double fill;
    test::Settings settings;
  };
  const std::string corner = "bottom_right";
  // Lines alone (few tiles are touched), more classes than are measured at once, markers, insides, labels.
  const test::Settings numbered{{"labels", std::int64_t{2}},
                                {"text_height", std::int64_t{12}},
                                {"label", std::string("{area:.1f} {class}={convexity:.3f}, {depth}")}};
  const Case cases[] = {{160, 97, 4, 3, 0, {}},
                        {130, 71, 3, 9, 0, {{"halo", 2.0}}},
                        {97, 80, 4, 5, 0.4, {{"markers", 2.5}, {"legend", corner}, {"counts", true}}},
                        {130, 71, 3, 7, 0.5, {{"labels", std::int64_t{2}}, {"line_width", 7.0}}},
                        {330, 171, 4, 5, 0, numbered}};
  const BoxText text;
  for (const Case& one : cases)
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      CAPTURE(one.width);
      CAPTURE(one.classes);
      CAPTURE(seed);
      std::vector<TestContour> contours;
      std::vector<ClassSpec> classes;
      Random random(seed);
      for (int k = 0; k < one.classes; ++k) {
        classes.push_back({.name = "class",
                           .colour = {std::uint8_t(random.bits()), std::uint8_t(random.bits()), 90, 200},
                           .fill = k % 2 == 0 ? one.fill : 0,
                           .hidden = k == 6});
        // The second class has none. Short segments in a corner of the map, and some across all of it.
        for (int i = 0; k != 1 && i < 2; ++i) {
          TestContour contour{k, i == 0, {}};
          const double x = random.unit() * 30, y = random.unit() * 20;
          for (int point = 0; point < 60; ++point)
            contour.points.emplace_back(x + 6 * std::sin(point * 0.31), y + 5 * std::cos(point * 0.27));
          if (i == 1) contour.points.emplace_back(kMapWidth - 1, random.unit() * (kMapHeight - 1));
          if (i == 0) contour.points.push_back(contour.points.front());
          contours.push_back(contour);
        }
      }
      const ImageFormat format{.width = one.width, .height = one.height, .channels = one.channels};
      Block memory(packed_bytes(format), MemoryKind::Host), drawn(packed_bytes(format), MemoryKind::Host);
      const ImageView in = packed_view(memory.data(), format), out = packed_view(drawn.data(), format);
      for (std::size_t i = 0; i < memory.size(); ++i) memory.data()[i] = std::byte(random.below(256));
      const TestContours given(kMapWidth, kMapHeight, one.classes, contours, {.scale_x = 2, .scale_y = 2},
                               Attributes(Attribute::Area, Attribute::Convexity, Attribute::Depth)
                                   .with(seed == 2 ? Attributes(Attribute::Id) : Attributes()));
      // Holes have no id: they are not counted, and get no label.
      for (std::uint32_t i = 0; seed == 2 && i < given.view.counts->contours; ++i)
        given.view.column(Attribute::Id)[i] = i % 3 == 1 ? std::nan("") : i + 1;
      if (given.view.counts->contours > 2) {
        given.view.column(Attribute::Area)[0] = std::nan("");
        given.view.column(Attribute::Area)[1] = -1234567.25;
      }
      test::StageHarness cpu(overlay_stage(), one.settings, classes);
      cpu.text(&text).run({in, given.view});

      const auto params = cpu.params().as<OverlayParams>();
      EmulatedOverlay kernels(make_overlay_plan(params, cpu), given.view, params.labels);
      kernels.prepare(&in, &out);
      kernels.paint();
      CHECK(test::same_image(out, cpu.image()));
      CHECK(test::rows_that_differ(in, cpu.image()) > 30);
    }
}

TEST_CASE("the kernels of overlay count the CPU's objects and shares, frame after frame") {
  constexpr int kWidth = 260, kHeight = 150, kFrames = 5;
  const BoxText text;
  const test::Settings settings{{"legend", std::string("top_left")},
                                {"text_height", std::int64_t{10}},
                                {"objects", std::string("fruit")},
                                {"shares", true},
                                {"counts", true}};
  const ImageFormat format{.width = kWidth, .height = kHeight, .channels = 3};
  Block memory(packed_bytes(format), MemoryKind::Host), drawn(packed_bytes(format), MemoryKind::Host);
  const ImageView in = packed_view(memory.data(), format), out = packed_view(drawn.data(), format);
  std::memset(memory.data(), 90, memory.size());
  for (const bool whole : {false, true}) {
    const std::vector<ClassSpec> classes{{.name = "fruit", .hidden = true},
                                         {.name = "skin", .whole = whole},
                                         {.name = "rot", .whole = whole},
                                         {.name = "paper"}};
    test::StageHarness cpu(overlay_stage(), settings, classes);
    cpu.text(&text);
    std::vector<std::vector<std::byte>> pictures;
    LegendState before{}, after{};
    Random random(whole ? 5 : 4);
    std::uint64_t newest = 0;
    for (int frame = 0; frame < kFrames; ++frame) {
      CAPTURE(frame);
      // Ids come again, one is missed; in the fourth frame they have run ahead by more than the state holds.
      std::vector<TestContour> contours;
      std::vector<double> ids, objects, shares;
      const auto add = [&](int k, double id, double object, double share) {
        const double x = 3 + random.unit() * 40, y = 3 + random.unit() * 30;
        contours.push_back({k, true, {{x, y}, {x + 4, y}, {x, y + 4}, {x, y}}});
        ids.push_back(id), objects.push_back(object), shares.push_back(share);
      };
      if (frame == 3) newest += 70000;
      std::vector<double> outlines;
      for (int i = 0; i < 6; ++i) {
        const double id = static_cast<double>(i % 3 == 0 ? ++newest : newest - random.below(4));
        if (id < 1 || std::ranges::find(outlines, id) != outlines.end()) continue;
        outlines.push_back(id);
        add(0, id, id, i == 4 ? std::nan("") : 1);
      }
      contours.front().points[1].first = frame == 1 ? kMapWidth - 1 : 30;  // cut by the border
      const std::size_t fruit = contours.size();
      for (int k = 1; k <= 2; ++k)
        for (int i = 0; i < 40; ++i) {
          const double object = i == 7   ? std::nan("")
                                : i == 8 ? 1e9
                                         : outlines[random.below(static_cast<int>(outlines.size()))];
          add(k, i % 9 == 0 ? std::nan("") : 1e6 + i, object, (i % 9 == 0 ? -0.01 : 0.03) * random.unit());
        }
      if (frame == 4) {  // none is in view
        for (std::size_t i = 0; i < fruit; ++i) objects[i] = std::nan("");
      }
      const TestContours given(kMapWidth, kMapHeight, 4, contours, {.scale_x = 2, .scale_y = 2},
                               Attributes(Attribute::Id, Attribute::Object, Attribute::Share));
      for (std::size_t i = 0; i < contours.size(); ++i) {
        given.view.column(Attribute::Id)[i] = ids[i];
        given.view.column(Attribute::Object)[i] = objects[i];
        given.view.column(Attribute::Share)[i] = shares[i];
      }
      if (frame > 0) cpu.next_frame(static_cast<std::uint64_t>(frame));
      cpu.run({in, given.view});
      EmulatedOverlay kernels(make_overlay_plan(cpu.params().as<OverlayParams>(), cpu), given.view);
      kernels.prepare(&in, &out);
      kernels.paint(&before, &after);
      CHECK(test::same_image(out, cpu.image()));
      CHECK(std::memcmp(cpu.states().after.data(), &after, sizeof after) == 0);
      before = after;
      pictures.push_back(cpu.bytes());
    }
    for (int frame = 1; frame < kFrames; ++frame) CHECK(pictures[std::size_t(frame)] != pictures.front());
  }
}
