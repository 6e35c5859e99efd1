#include "stages/overlay/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "pipeline/shared/printable.h"
#include "stages/overlay/canvas.h"
#include "stages/overlay/label_text.h"

namespace contorno {
namespace {

constexpr Colour kPanel{14, 17, 22, 200}, kInk{245, 246, 248, 255}, kDark{12, 14, 18, 255};
constexpr std::uint8_t kMiddle = 128;
constexpr int kDigitsOfObjects = 9;  ///< that there is room for: 3 in view, and 6

OverlayPen make_pen(const OverlayParams& params, const ClassSpec& spec, const ImageFormat& frame) {
  const double automatic = std::max(1.5, std::min(frame.width, frame.height) / 450.0);
  const double by_stage = params.line_width > 0 ? params.line_width : automatic;
  const double width = spec.line_width > 0 ? spec.line_width : by_stage;
  OverlayPen pen;
  pen.line = spec.colour, pen.halo = params.halo_colour;
  pen.half_line = static_cast<float>(width / 2);
  pen.half_halo = static_cast<float>(width / 2 + params.halo);
  pen.marker = static_cast<float>(params.markers);
  const double widest = std::max(width / 2, params.markers) + params.halo;
  pen.reach = static_cast<float>(widest + 0.5);
  pen.squared_reach = pen.reach * pen.reach;
  const double fill = spec.fill > 0 ? spec.fill : params.fill;
  pen.fill = static_cast<std::uint8_t>(std::lround(fill * spec.colour.alpha));
  pen.hidden = spec.hidden;
  return pen;
}

int text_height_of(const OverlayParams& params, const ImageFormat& frame) {
  return params.text_height > 0 ? params.text_height : std::clamp(frame.height / 36, 14, 64);
}

bool is_bright(const Colour& colour) {
  return 299 * colour.red + 587 * colour.green + 114 * colour.blue > 140 * 1000;
}

/// Draws the labels of one class, in one piece or in parts that fit together.
class LabelMaker {
 public:
  LabelMaker(const TextRasteriser& text, Colour back, int line)
      : text_(text),
        ink_(is_bright(back) ? kDark : kInk),
        back_(back),
        height_(std::max(12, line * 4 / 5)),
        margin_(std::max(3, height_ / 3)) {
    back_.alpha = 230;
  }

  Stamp whole(const std::string& text) const {
    const TextBitmap bitmap = text_.rasterise(text, height_);
    return draw(bitmap, margin_, bitmap.width + 2 * margin_, 0, bitmap.width + 2 * margin_);
  }
  /// Without ends: the box goes on to both sides.
  Stamp part(const std::string& text) const {
    const TextBitmap bitmap = text_.rasterise(text, height_);
    return draw(bitmap, 0, bitmap.width, -2 * margin_, bitmap.width + 4 * margin_);
  }
  Stamp left_end() const { return draw({}, 0, margin_, 0, 4 * margin_); }
  Stamp right_end() const { return draw({}, 0, margin_, -3 * margin_, 4 * margin_); }

 private:
  Stamp draw(const TextBitmap& text, int text_x, int width, int box_x, int box_width) const {
    Canvas canvas(width, height_ + 2);
    canvas.rounded_box(box_x, 0, box_width, height_ + 2.0, height_ / 4.0, back_);
    canvas.text(text, text_x, 1, ink_);
    return canvas.stamp();
  }

  const TextRasteriser& text_;
  Colour ink_, back_;
  int height_, margin_;
};

class Planner {
 public:
  Planner(const OverlayParams& params, std::span<const ClassSpec> classes, const ImageFormat& frame,
          const TextRasteriser* text)
      : params_(params),
        classes_(classes),
        frame_(frame),
        text_(text),
        line_(text_height_of(params, frame)) {}

  OverlayPlan make() {
    for (const ClassSpec& spec : classes_) plan_.pens.push_back(make_pen(params_, spec, frame_));
    plan_.labels.assign(classes_.size(), -1);
    const std::vector<LabelWord> words = parse_label(params_.label);
    plan_.count_ends.assign(classes_.size(), {-1, -1});
    plan_.share_ends.assign(classes_.size(), {-1, -1});
    for (const ClassSpec& spec : classes_) plan_.wholes.push_back(spec.whole);
    const bool has_whole = std::ranges::any_of(plan_.wholes, [](bool whole) { return whole; });
    plan_.legend_form.whole = has_whole ? 0 : static_cast<unsigned long long>(kLegendUnit);
    if (text_ != nullptr && params_.labels > 0) make_labels(words);
    const bool counts_objects = params_.shares || !params_.objects.empty();
    if (text_ != nullptr && (params_.counts || counts_objects) && params_.legend != LegendCorner::None) {
      make_digits();
      if (counts_objects) make_glyphs();
    }
    if (params_.legend != LegendCorner::None) make_legend();
    return std::move(plan_);
  }

 private:
  int add(Stamp stamp) {
    plan_.stamps.push_back(std::move(stamp));
    return static_cast<int>(plan_.stamps.size()) - 1;
  }

  void make_labels(const std::vector<LabelWord>& words) {
    const bool numbers = std::any_of(words.begin(), words.end(),
                                     [](const LabelWord& word) { return word.attribute != Attribute::End; });
    for (std::size_t k = 0; k < classes_.size(); ++k) {
      const ClassSpec& spec = classes_[k];
      if (spec.hidden || spec.name.empty() || words.empty()) continue;
      const LabelMaker maker(*text_, spec.colour, line_);
      if (!numbers) {
        plan_.labels[k] = add(maker.whole(words.front().text_for(spec.name)));
        continue;
      }
      plan_.labels[k] = static_cast<int>(plan_.stamps.size());
      for (const char glyph : std::string_view("0123456789.-")) add(maker.part(std::string(1, glyph)));
      add(maker.left_end()), add(maker.right_end());
      for (const LabelWord& word : words)
        if (word.attribute == Attribute::End) add(maker.part(word.text_for(spec.name)));
    }
    if (numbers) make_form(words);
  }

  void make_form(const std::vector<LabelWord>& words) {
    LabelForm& form = plan_.label_form;
    plan_.label_pieces = 2;  // the ends
    for (const LabelWord& word : words) {
      form.part[form.parts++] = {word.attribute, word.decimals};
      plan_.label_pieces += word.attribute == Attribute::End ? 1 : kMaxGlyphs;
    }
  }

  int make_glyph(std::string_view text) {
    const TextBitmap bitmap = text_->rasterise(text, line_);
    Canvas canvas(bitmap.width, bitmap.height);
    canvas.text(bitmap, 0, 0, kInk);
    return add(canvas.stamp());
  }
  int width_of(int stamp) const { return plan_.stamps[static_cast<std::size_t>(stamp)].width; }

  void make_digits() {
    for (char digit = '0'; digit <= '9'; ++digit) {
      const int number = make_glyph(std::string_view(&digit, 1));
      if (digit == '0') plan_.legend_form.digits = number;
      digit_width_ = std::max(digit_width_, width_of(number));
    }
    if (params_.counts) plan_.first_digit = plan_.legend_form.digits;
  }
  /// The pictures of what the legend says of objects.
  void make_glyphs() {
    LegendForm& form = plan_.legend_form;
    form.shown = true;
    form.of = make_glyph(" of "), form.point = make_glyph("."), form.per_cent = make_glyph(" %"),
    form.none = make_glyph("-");
  }

  void make_legend() {
    const int margin = std::max(4, line_ / 2), step = line_ * 5 / 4, swatch = std::max(6, line_ * 2 / 3);
    std::vector<TextBitmap> names;
    std::vector<std::size_t> listed;
    int widest = 0;
    TextBitmap objects;
    if (plan_.legend_form.shown && !params_.objects.empty())
      objects = text_->rasterise(params_.objects, line_);
    const int first_row = objects.width > 0 ? 1 : 0;
    for (std::size_t k = 0; k < classes_.size(); ++k) {
      if (classes_[k].hidden) continue;
      listed.push_back(k);
      names.push_back(text_ != nullptr ? text_->rasterise(classes_[k].name, line_) : TextBitmap{});
      widest = std::max(widest, names.back().width);
    }
    if (listed.empty() && first_row == 0) {
      plan_.legend_form.shown = false;
      return;
    }
    const int text_gap = widest > 0 ? margin * 3 / 4 : 0;
    const int counts = plan_.first_digit >= 0 ? margin + 5 * digit_width_ : 0;
    const int shares = plan_.legend_form.shown && params_.shares ? share_width(margin) : 0;
    const int row_of_objects = first_row > 0 ? objects.width + width_of(plan_.legend_form.of) + margin +
                                                   kDigitsOfObjects * digit_width_
                                             : 0;
    const int width = 2 * margin + std::max(swatch + text_gap + widest + counts + shares, row_of_objects);
    const int rows = static_cast<int>(listed.size()) + first_row;
    const int height = 2 * margin + step * rows - (step - line_);
    Canvas canvas(width, height);
    canvas.rounded_box(0, 0, width, height, line_ * 0.4, kPanel);
    place_legend(width, height, margin);
    plan_.legend_form.left = plan_.legend_place.x;
    for (std::size_t i = 0; i < listed.size(); ++i) {
      const int y = margin + step * (static_cast<int>(i) + first_row);
      draw_swatch(canvas, listed[i], margin, y + (line_ - swatch) / 2.0, swatch);
      canvas.text(names[i], margin + swatch + text_gap, y, kInk);
      if (counts > 0) plan_.count_ends[listed[i]] = on_frame(width - margin - shares, y);
      if (shares > 0) plan_.share_ends[listed[i]] = on_frame(width - margin, y);
    }
    if (first_row > 0) {
      canvas.text(objects, margin, margin, kInk);
      plan_.legend_form.objects_end = on_frame(width - margin, margin);
    }
    plan_.legend = plan_.legend_place.stamp = add(canvas.stamp());
  }

  /// "100.0 %", and what is between it and what is left of it.
  int share_width(int margin) const {
    const LegendForm& form = plan_.legend_form;
    return margin + 4 * digit_width_ + width_of(form.point) + width_of(form.per_cent);
  }
  /// A place in the legend.
  FramePoint on_frame(int x, int y) const {
    return {static_cast<float>(plan_.legend_place.x + x), static_cast<float>(plan_.legend_place.y + y)};
  }

  /// Draws a square that looks as the class does: its border in the colour of the class, and where insides
  /// are filled its inside as the fill looks on a middle grey.
  void draw_swatch(Canvas& canvas, std::size_t k, double x, double y, double side) const {
    Colour colour = classes_[k].colour;
    colour.alpha = 255;
    canvas.rounded_box(x, y, side, side, side * 0.25, colour);
    const std::uint32_t fill = plan_.pens[k].fill;
    if (fill == 0) return;
    const double line = std::max(2.0, side / 6);
    const auto tinted = [&](std::uint8_t channel) { return blend_byte(kMiddle, channel, fill); };
    canvas.rounded_box(x + line, y + line, side - 2 * line, side - 2 * line, side * 0.1,
                       {tinted(colour.red), tinted(colour.green), tinted(colour.blue)});
  }

  void place_legend(int width, int height, int margin) {
    const bool right =
        params_.legend == LegendCorner::TopRight || params_.legend == LegendCorner::BottomRight;
    const bool bottom =
        params_.legend == LegendCorner::BottomLeft || params_.legend == LegendCorner::BottomRight;
    plan_.legend_place.x = right ? frame_.width - width - margin : margin;
    plan_.legend_place.y = bottom ? frame_.height - height - margin : margin;
  }

  const OverlayParams& params_;
  std::span<const ClassSpec> classes_;
  const ImageFormat& frame_;
  const TextRasteriser* text_;
  int line_;
  int digit_width_ = 0;
  OverlayPlan plan_;
};

PointTransform transform_of(const Placement& map, const Placement& image) {
  const double gain_x = map.scale_x / image.scale_x, gain_y = map.scale_y / image.scale_y;
  const double first_x = map.frame_x(0), first_y = map.frame_y(0);
  return {.gain_x = gain_x,
          .gain_y = gain_y,
          .bias_x = (first_x + 0.5 - image.offset_x) / image.scale_x - 0.5,
          .bias_y = (first_y + 0.5 - image.offset_y) / image.scale_y - 0.5};
}

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(ExitCode::BadConfig, "overlay: " + sentence);
}

/// Whether the contours have what their labels show.
void check_label(const OverlayParams& params, const ContoursFormat& contours) {
  for (const LabelWord& word : parse_label(params.label))
    if (word.attribute != Attribute::End && !contours.attributes.has(word.attribute))
      refuse(fmt::format(
          "label is '{}', but the contours have no '{}': none of the stages before the overlay "
          "gives it (hierarchy, measure and fourier_descriptors give attributes, and classes with levels "
          "give level)",
          printable(params.label), name_of(word.attribute)));
}

/// Whether the contours have what the legend says of objects.
void check_objects(const OverlayParams& params, const ContoursFormat& contours) {
  if (params.objects.empty() && !params.shares) return;
  if (!contours.attributes.has(Attribute::Object) || !contours.attributes.has(Attribute::Share) ||
      !contours.attributes.has(Attribute::Id))
    refuse(
        fmt::format("{} is given, but nothing before the overlay makes objects of the contours: the step "
                    "objects of contour_prep does",
                    params.shares ? "shares" : "objects"));
}

}  // namespace

OverlayPlan make_overlay_plan(const OverlayParams& params, const PlanContext& context) {
  const ImageFormat& frame = context.image(0);
  if (frame.type != ElementType::U8 || frame.layout != Layout::Interleaved ||
      (frame.channels != 3 && frame.channels != 4))
    refuse(fmt::format(
        "the frame is {}, allowed 3 or 4 interleaved channels of uint8 (preprocess with colour: rgb "
        "makes them)",
        describe(frame)));
  const auto& contours = std::get<ContoursFormat>(context.input(1));
  if (static_cast<int>(context.classes().size()) != contours.classes)
    refuse(fmt::format("the contours have {} classes, but the graph declares {}", contours.classes,
                       context.classes().size()));
  if (params.labels > 0) check_label(params, contours);
  check_objects(params, contours);
  OverlayPlan plan = Planner(params, context.classes(), frame, context.text()).make();
  plan.format = frame;
  plan.grid = OverlayGrid(frame.width, frame.height);
  plan.transform = transform_of(contours.placement, frame.placement);
  plan.border = OverlayBorder(contours.width, contours.height, plan.transform);
  for (const OverlayPen& pen : plan.pens)
    plan.slots.push_back(pen.fill != 0 && !pen.hidden ? plan.filled++ : -1);
  return plan;
}

}  // namespace contorno
