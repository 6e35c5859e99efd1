#include "stages/morphology/params.h"

#include <fmt/format.h>

#include <cmath>
#include <sstream>

#include "base/error.h"

namespace contorno {
namespace {

constexpr double kMostHeight = 1e6;
constexpr auto kAnyHeight = static_cast<double>(kUnbounded);
constexpr std::size_t kMostHeights =
    std::size_t{StructuringElement::kMaxSide} * std::size_t{StructuringElement::kMaxSide};

[[noreturn]] void refuse(const char* stage, const std::string& sentence) {
  throw Error(ExitCode::BadConfig, std::string(stage) + ": " + sentence);
}

int whole(const char* stage, double value, const char* key) {
  if (value != std::floor(value))
    refuse(stage, fmt::format("{} has the number {}, only whole numbers of px are allowed", key, value));
  return static_cast<int>(value);
}

template <class P>
void add_border_params(ParamList<P>& list) {
  list.choice("border", &P::border,
              {{"identity", MorphologyBorder::Identity},
               {"replicate", MorphologyBorder::Replicate},
               {"reflect", MorphologyBorder::Reflect},
               {"reflect101", MorphologyBorder::Reflect101},
               {"wrap", MorphologyBorder::Wrap},
               {"constant", MorphologyBorder::Constant}},
              "What lies outside of the image; identity: nothing, only pixels inside take part.");
  list.number("border_value", &P::border_value, -1e6, 1e6, Unit::Levels,
              "Value of all pixels outside, with border: constant.");
}

template <class P>
void add_alpha_param(ParamList<P>& list) {
  list.choice("alpha", &P::alpha, {{"keep", AlphaRule::Keep}, {"process", AlphaRule::Process}},
              "Whether the alpha channel of RGBA images stays as it is or is worked on like a colour.");
}

template <class P>
void add_connectivity_param(ParamList<P>& list, const char* sentence) {
  list.choice("connectivity", &P::connectivity, {{"4", Neighbours::Four}, {"8", Neighbours::Eight}},
              sentence);
}

StructuringElement shape_of(const MorphologyParams& params) {
  if (params.size.size() > 2)
    refuse("morphology",
           fmt::format("size has {} numbers, allowed 2: [width, height], or 1 for both", params.size.size()));
  const int width = whole("morphology", params.size.empty() ? 3 : params.size.front(), "size");
  const int height = whole("morphology", params.size.empty() ? 3 : params.size.back(), "size");
  switch (params.element) {
    case ElementShape::Rectangle:
      return StructuringElement::rectangle(width, height);
    case ElementShape::Cross:
      return StructuringElement::cross(width, height);
    case ElementShape::Ellipse:
      return StructuringElement::ellipse(width, height);
    case ElementShape::Disk:
      if (width != height)
        refuse("morphology", fmt::format("a disk is as wide as it is high, size is [{}, {}]", width, height));
      return StructuringElement::disk(width);
    case ElementShape::Diamond:
      return StructuringElement::diamond(width, height);
    case ElementShape::Octagon:
      return StructuringElement::octagon(width, height);
    case ElementShape::Line:
      return StructuringElement::line(width, params.angle);
    case ElementShape::File:
      if (!params.file) refuse("morphology", "element: file needs file, the path of a mask");
      return params.non_flat ? StructuringElement::from_heights(*params.file, params.threshold)
                             : StructuringElement::from_mask(*params.file, params.threshold);
  }
  throw InternalError("unknown element");
}

StructuringElement anchored(const char* stage, const StructuringElement& element,
                            const std::vector<double>& anchor) {
  if (anchor.empty()) return element;
  if (anchor.size() != 2)
    refuse(stage, fmt::format("anchor has {} numbers, allowed 2: [x, y]", anchor.size()));
  return element.with_anchor(whole(stage, anchor[0], "anchor"), whole(stage, anchor[1], "anchor"));
}

/// Rows of 1 (hit), 0 (miss) and . (either), separated by blanks, commas or slashes.
HitAndMiss parse_pattern(std::string pattern) {
  for (char& letter : pattern)
    if (letter == ',' || letter == '/' || letter == ';') letter = ' ';
  std::istringstream words(pattern);
  Mask hit, miss;
  for (std::string row; words >> row; ++hit.height) {
    if (hit.height == 0) hit.width = static_cast<int>(row.size());
    if (static_cast<int>(row.size()) != hit.width)
      refuse("hit_or_miss", fmt::format("row {} of the pattern has {} letters, the first has {}",
                                        hit.height + 1, row.size(), hit.width));
    for (const char letter : row) {
      if (letter != '0' && letter != '1' && letter != '.')
        refuse("hit_or_miss", fmt::format("the pattern has '{}', allowed 1, 0 and .", letter));
      hit.values.push_back(letter == '1' ? 1 : 0);
      miss.values.push_back(letter == '0' ? 1 : 0);
    }
  }
  miss.width = hit.width, miss.height = hit.height;
  const auto has_any = [](const Mask& mask) {
    for (const double value : mask.values)
      if (value > 0) return true;
    return false;
  };
  if (!has_any(hit) || !has_any(miss))
    refuse("hit_or_miss", fmt::format("the pattern \"{}\" needs at least one 1 and one 0", pattern));
  return {StructuringElement::from_mask(hit), StructuringElement::from_mask(miss)};
}

}  // namespace

ParamDeclaration morphology_params() {
  using P = MorphologyParams;
  ParamList<P> list;
  list.choice("operation", &P::operation,
              {{"erosion", MorphologyOperation::Erosion},
               {"erode", MorphologyOperation::Erosion},
               {"dilation", MorphologyOperation::Dilation},
               {"dilate", MorphologyOperation::Dilation},
               {"opening", MorphologyOperation::Opening},
               {"open", MorphologyOperation::Opening},
               {"closing", MorphologyOperation::Closing},
               {"close", MorphologyOperation::Closing},
               {"gradient", MorphologyOperation::Gradient},
               {"internal_gradient", MorphologyOperation::InternalGradient},
               {"external_gradient", MorphologyOperation::ExternalGradient},
               {"top_hat", MorphologyOperation::TopHat},
               {"black_hat", MorphologyOperation::BlackHat},
               {"opening_by_reconstruction", MorphologyOperation::OpeningByReconstruction},
               {"closing_by_reconstruction", MorphologyOperation::ClosingByReconstruction}},
              "What is computed; differences are 0 where they would be negative.");
  list.choice("element", &P::element,
              {{"rectangle", ElementShape::Rectangle},
               {"cross", ElementShape::Cross},
               {"ellipse", ElementShape::Ellipse},
               {"disk", ElementShape::Disk},
               {"diamond", ElementShape::Diamond},
               {"octagon", ElementShape::Octagon},
               {"line", ElementShape::Line},
               {"file", ElementShape::File}},
              "Shape of the structuring element.");
  list.numbers("size", &P::size, 1, 2, 1, StructuringElement::kMaxSide, Unit::Pixels,
               "Size of the element, [width, height]; one number for both, and for the length of a line.");
  list.number("angle", &P::angle, -360, 360, Unit::None,
              "Direction of a line in degrees, counter-clockwise from the x axis.");
  list.mask("file", &P::file, "Path of the mask with element: file, an image or an .npy array.");
  list.number("threshold", &P::threshold, -kMostHeight, kMostHeight, Unit::Levels,
              "Pixels of the mask file with a larger value are members of the element.");
  list.flag("non_flat", &P::non_flat, "Takes the values of the mask file as heights of its members.");
  list.numbers("heights", &P::heights, 0, kMostHeights, -kAnyHeight, kAnyHeight, Unit::Levels,
               "Heights of the element's box, row by row; empty: flat.");
  list.numbers("anchor", &P::anchor, 0, 2, 0, StructuringElement::kMaxSide, Unit::Pixels,
               "Pixel of the element that lies on the result's, [x, y]; empty: [width / 2, height / 2].");
  add_border_params(list);
  add_alpha_param(list);
  add_connectivity_param(list, "Neighbours of a pixel in operations by reconstruction.");
  list.flag("opencv_compat", &P::opencv_compat, "Does not turn the element for dilations, as OpenCV does.");
  list.flag("paper_compat", &P::paper_compat, "Adds heights in erosions instead of subtracting them.");
  return declare(std::move(list), [](const P& params, const ParamTrial& trial) {
    trial.run(params.element == ElementShape::File ? "file" : "size", [&] { element_of(params); });
  });
}

ParamDeclaration hit_or_miss_params() {
  using P = HitOrMissParams;
  ParamList<P> list;
  list.text("pattern", &P::pattern,
            "Rows of 1 (foreground), 0 (background) and . (either), with blanks between the rows.");
  list.mask("hit_file", &P::hit_file, "Path of a mask of the foreground pixels, in place of the pattern.");
  list.mask("miss_file", &P::miss_file, "Path of a mask of the background pixels, in place of the pattern.");
  list.number("threshold", &P::threshold, -kMostHeight, kMostHeight, Unit::Levels,
              "Pixels of mask files with a larger value are members.");
  list.numbers("anchor", &P::anchor, 0, 2, 0, StructuringElement::kMaxSide, Unit::Pixels,
               "Pixel of the pattern that lies on the result's, [x, y]; empty: [width / 2, height / 2].");
  add_border_params(list);
  add_alpha_param(list);
  return declare(std::move(list), [](const P& params, const ParamTrial& trial) {
    trial.run(!params.hit_file ? "pattern" : "hit_file", [&] { elements_of(params); });
  });
}

ParamDeclaration reconstruction_params() {
  using P = ReconstructionParams;
  ParamList<P> list;
  list.choice("method", &P::method,
              {{"dilation", ReconstructionMethod::Dilation}, {"erosion", ReconstructionMethod::Erosion}},
              "Whether the marker grows under the mask, or shrinks down to it.");
  add_connectivity_param(list, "Neighbours of a pixel.");
  add_alpha_param(list);
  return declare(std::move(list));
}

StructuringElement element_of(const MorphologyParams& params) {
  StructuringElement element = anchored("morphology", shape_of(params), params.anchor);
  return params.heights.empty() ? element : element.with_heights(params.heights);
}

MorphologyOptions options_of(const MorphologyParams& params) {
  return {.border = params.border,
          .border_value = params.border_value,
          .alpha = params.alpha,
          .dilation_element = params.opencv_compat ? DilationElement::AsGiven : DilationElement::Reflected,
          .erosion_heights = params.paper_compat ? ErosionHeights::Added : ErosionHeights::Subtracted,
          .neighbours = params.connectivity};
}

HitAndMiss elements_of(const HitOrMissParams& params) {
  const bool files = params.hit_file || params.miss_file;
  if (files && !(params.hit_file && params.miss_file))
    refuse("hit_or_miss", "only one of hit_file and miss_file is given, allowed both or none");
  HitAndMiss elements = files ? HitAndMiss{StructuringElement::from_mask(*params.hit_file, params.threshold),
                                           StructuringElement::from_mask(*params.miss_file, params.threshold)}
                              : parse_pattern(params.pattern);
  elements.hit = anchored("hit_or_miss", elements.hit, params.anchor);
  elements.miss = anchored("hit_or_miss", elements.miss, params.anchor);
  return elements;
}

MorphologyOptions options_of(const HitOrMissParams& params) {
  return {.border = params.border, .border_value = params.border_value, .alpha = params.alpha};
}

MorphologyOptions options_of(const ReconstructionParams& params) {
  return {.alpha = params.alpha, .neighbours = params.connectivity};
}

}  // namespace contorno
