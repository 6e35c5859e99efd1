// The parameters of the stages morphology, hit_or_miss and reconstruction, and how elements and options are
// made of them. Internal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stages/morphology/stage.h"

namespace contorno {

enum class ElementShape : std::uint8_t { Rectangle, Cross, Ellipse, Disk, Diamond, Octagon, Line, File };

struct MorphologyParams {
  MorphologyOperation operation = MorphologyOperation::Opening;
  ElementShape element = ElementShape::Rectangle;
  std::vector<double> size{3, 3};
  double angle = 0;
  SharedMask file;
  double threshold = 0;
  bool non_flat = false;
  std::vector<double> heights;
  std::vector<double> anchor;
  MorphologyBorder border = MorphologyBorder::Identity;
  double border_value = 0;
  AlphaRule alpha = AlphaRule::Keep;
  Neighbours connectivity = Neighbours::Eight;
  bool opencv_compat = false;
  bool paper_compat = false;
};

struct HitOrMissParams {
  std::string pattern = "000 010 000";
  SharedMask hit_file, miss_file;
  double threshold = 0;
  std::vector<double> anchor;
  MorphologyBorder border = MorphologyBorder::Identity;
  double border_value = 0;
  AlphaRule alpha = AlphaRule::Keep;
};

struct ReconstructionParams {
  ReconstructionMethod method = ReconstructionMethod::Dilation;
  Neighbours connectivity = Neighbours::Eight;
  AlphaRule alpha = AlphaRule::Keep;
};

ParamDeclaration morphology_params();
ParamDeclaration hit_or_miss_params();
ParamDeclaration reconstruction_params();

/// The structuring element that the parameters describe. Throws Error(BadConfig).
StructuringElement element_of(const MorphologyParams& params);
MorphologyOptions options_of(const MorphologyParams& params);

struct HitAndMiss {
  StructuringElement hit, miss;
};
HitAndMiss elements_of(const HitOrMissParams& params);
MorphologyOptions options_of(const HitOrMissParams& params);
MorphologyOptions options_of(const ReconstructionParams& params);

}  // namespace contorno
