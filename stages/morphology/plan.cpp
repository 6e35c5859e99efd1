#include "stages/morphology/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "stages/morphology/structuring_element.h"
#include "stages/shared/sample_value.h"

namespace contorno {
namespace {

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(ExitCode::BadConfig, "morphology: " + sentence);
}

struct Run {
  int row, shift, length;
  double add;
};

/// Neighbours in a row with the same height make a run; `offsets` are sorted by rows and lie at 0 or more.
std::vector<Run> runs_of(const std::vector<ElementOffset>& offsets) {
  std::vector<Run> runs;
  for (const ElementOffset& o : offsets) {
    if (!runs.empty()) {
      Run& last = runs.back();
      if (last.row == o.y && last.shift + last.length == o.x && last.add == o.height) {
        ++last.length;
        continue;
      }
    }
    runs.push_back({o.y, o.x, 1, o.height});
  }
  return runs;
}

/// Each length from the one before it, with at most four reads; a factor of more than four takes steps.
std::vector<RunTable> tables_for(const std::set<int>& lengths) {
  std::vector<RunTable> tables(1);
  const auto add = [&](int length) {
    const int before = tables.back().length;
    RunTable table{.length = length, .from = static_cast<int>(tables.size()) - 1};
    for (int at = 0;; at += before) {
      const int shift = std::min(at, length - before);
      table.shifts[static_cast<std::size_t>(table.reads++)] = shift;
      if (shift == length - before) break;
    }
    tables.push_back(table);
  };
  for (const int length : lengths) {
    if (length == 1) continue;
    while (length > 4 * tables.back().length) add(4 * tables.back().length);
    add(length);
  }
  return tables;
}

Window window_of(std::vector<ElementOffset> offsets, Extreme extreme) {
  Window window;
  window.extreme = extreme;
  const auto by_row = [](const ElementOffset& a, const ElementOffset& b) {
    return a.y != b.y ? a.y < b.y : a.x < b.x;
  };
  std::sort(offsets.begin(), offsets.end(), by_row);
  window.top = offsets.front().y, window.bottom = offsets.back().y;
  window.left = window.right = offsets.front().x;
  for (const ElementOffset& o : offsets) {
    window.left = std::min(window.left, o.x), window.right = std::max(window.right, o.x);
    window.holds_origin |= o.x == 0 && o.y == 0;
    window.raised |= o.height != 0;
  }
  for (ElementOffset& o : offsets) o.x -= window.left, o.y -= window.top;
  const std::vector<Run> runs = runs_of(offsets);
  std::set<int> lengths;
  for (const Run& run : runs) lengths.insert(run.length);
  window.tables = tables_for(lengths);
  for (const Run& run : runs) {
    int table = 0;
    while (window.tables[static_cast<std::size_t>(table)].length != run.length) ++table;
    int& first = window.tables[static_cast<std::size_t>(table)].first_row;
    if (first < 0) first = run.row;
    window.terms.push_back({run.row, run.shift, table, run.add});
  }
  window.rectangle =
      !window.raised && static_cast<int>(runs.size()) == window.rows() &&
      std::all_of(runs.begin(), runs.end(), [&](const Run& run) { return run.length == window.columns(); });
  return window;
}

/// Heights as they are added to samples of `type`: whole and no larger than the type's range for integers.
void fit_heights(Window& window, ElementType type) {
  if (type == ElementType::F32) {
    for (RunTerm& term : window.terms) {
      if (std::abs(term.add) > static_cast<double>(std::numeric_limits<float>::max()))
        refuse(fmt::format("the height {} is beyond float32", term.add));
      term.add = static_cast<float>(term.add);
    }
    return;
  }
  const double most = type == ElementType::U8 ? 255 : 65535;
  for (RunTerm& term : window.terms) {
    if (term.add != std::floor(term.add))
      refuse(fmt::format("the height {} is not whole, as it must be for {} images", std::abs(term.add),
                         name_of(type)));
    term.add = std::clamp(term.add, -most, most);
  }
}

void check_border_value(const MorphologyOptions& options, ElementType type) {
  if (options.border != MorphologyBorder::Constant || type == ElementType::F32) return;
  const double most = type == ElementType::U8 ? 255 : 65535, value = options.border_value;
  if (value != std::floor(value) || value < 0 || value > most)
    refuse(fmt::format("border_value is {}, allowed whole numbers from 0 to {} for {} images", value, most,
                       name_of(type)));
}

MorphologyPlan start_plan(const MorphologyOptions& options, const ImageFormat& format) {
  check_morphology_format("morphology", format);
  check_border_value(options, format.type);
  MorphologyPlan plan;
  plan.format = format, plan.options = options;
  plan.keeps_alpha = keeps_alpha(format, options.alpha);
  return plan;
}

void finish_plan(MorphologyPlan& plan) {
  for (MorphologyPass& pass : plan.passes)
    for (Window& window : pass.windows) {
      fit_heights(window, plan.format.type);
      plan.raised |= window.raised;
    }
}

}  // namespace

Window erosion_window(const StructuringElement& element, ErosionHeights heights) {
  std::vector<ElementOffset> offsets = element.offsets();
  if (heights == ErosionHeights::Subtracted)
    for (ElementOffset& o : offsets) o.height = -o.height;
  return window_of(std::move(offsets), Extreme::Minimum);
}

Window dilation_window(const StructuringElement& element, DilationElement rule) {
  const bool reflect = rule == DilationElement::Reflected;
  return window_of(reflect ? element.reflected().offsets() : element.offsets(), Extreme::Maximum);
}

bool MorphologyPlan::needs_between() const {
  return std::any_of(passes.begin(), passes.end(),
                     [](const MorphologyPass& pass) { return pass.to == MorphologyPass::Place::Between; });
}

void check_morphology_format(const char* name, const ImageFormat& format) {
  const ElementType type = format.type;
  if (type != ElementType::U8 && type != ElementType::U16 && type != ElementType::F32)
    throw Error(ExitCode::BadConfig, fmt::format("{}: the input is {}, allowed uint8, uint16 and float32{}",
                                                 name, name_of(type), conversion_hint(type)));
}

void check_reconstruction_formats(const ImageFormat& marker, const ImageFormat& mask) {
  check_morphology_format("reconstruction", marker);
  ImageFormat placed = mask;
  placed.placement = marker.placement;
  if (placed != marker)
    throw Error(ExitCode::BadConfig, fmt::format("reconstruction: the marker is {} and the mask {}; both "
                                                 "must be alike",
                                                 describe(marker), describe(mask)));
}

bool keeps_alpha(const ImageFormat& format, AlphaRule rule) {
  return rule == AlphaRule::Keep && format.layout == Layout::Interleaved && format.channels == 4;
}

MorphologyPlan plan_morphology(MorphologyOperation operation, const StructuringElement& element,
                               const MorphologyOptions& options, const ImageFormat& format) {
  using Place = MorphologyPass::Place;
  MorphologyPlan plan = start_plan(options, format);
  const Window erosion = erosion_window(element, options.erosion_heights);
  const Window dilation = dilation_window(element, options.dilation_element);
  const auto one = [&](const Window& window, PassResult result) {
    plan.passes.push_back({.windows = {window}, .result = result});
  };
  // Between its two halves, pixels outside are those of the border again: of the first half's result.
  const auto two = [&](const Window& first, const Window& second, PassResult result) {
    if (options.border == MorphologyBorder::Identity || options.border == MorphologyBorder::Constant) {
      plan.passes.push_back({.windows = {first, second}, .result = result});
    } else {
      plan.passes.push_back({.windows = {first}, .to = Place::Between});
      plan.passes.push_back({.windows = {second}, .from = Place::Between, .result = result});
    }
  };
  switch (operation) {
    case MorphologyOperation::Erosion:
      one(erosion, PassResult::Store);
      break;
    case MorphologyOperation::Dilation:
      one(dilation, PassResult::Store);
      break;
    case MorphologyOperation::Opening:
      two(erosion, dilation, PassResult::Store);
      break;
    case MorphologyOperation::Closing:
      two(dilation, erosion, PassResult::Store);
      break;
    case MorphologyOperation::Gradient:
      one(erosion, PassResult::Store);
      one(dilation, PassResult::MinusOutput);
      break;
    case MorphologyOperation::InternalGradient:
      one(erosion, PassResult::SourceMinus);
      break;
    case MorphologyOperation::ExternalGradient:
      one(dilation, PassResult::MinusSource);
      break;
    case MorphologyOperation::TopHat:
      two(erosion, dilation, PassResult::SourceMinus);
      break;
    case MorphologyOperation::BlackHat:
      two(dilation, erosion, PassResult::MinusSource);
      break;
    case MorphologyOperation::OpeningByReconstruction:
      one(erosion, PassResult::Store);
      plan.reconstruction = ReconstructionMethod::Dilation;
      break;
    case MorphologyOperation::ClosingByReconstruction:
      one(dilation, PassResult::Store);
      plan.reconstruction = ReconstructionMethod::Erosion;
      break;
  }
  finish_plan(plan);
  return plan;
}

MorphologyPlan plan_hit_or_miss(const StructuringElement& hit, const StructuringElement& miss,
                                const MorphologyOptions& options, const ImageFormat& format) {
  MorphologyPlan plan = start_plan(options, format);
  if (!hit.flat() || !miss.flat()) refuse("hit_or_miss takes flat elements only");
  std::set<std::pair<int, int>> hits;
  for (const ElementOffset& o : hit.offsets()) hits.emplace(o.x, o.y);
  for (const ElementOffset& o : miss.offsets())
    if (hits.contains({o.x, o.y}))
      refuse(fmt::format("hit and miss both have the offset ({}, {}); they must not meet", o.x, o.y));
  plan.passes.push_back({.windows = {erosion_window(hit, ErosionHeights::Subtracted)}});
  plan.passes.push_back({.windows = {dilation_window(miss, DilationElement::AsGiven)},
                         .result = PassResult::OutputAndComplement});
  finish_plan(plan);
  return plan;
}

}  // namespace contorno
