// The parameters of Diamond-Square as the stage and the source of that name declare them.
#pragma once

#include "pipeline/graph/param.h"
#include "stages/diamond_square/field.h"

namespace contorno {

struct FieldOptions {
  std::vector<double> size = {513, 513};
  ElementType type = ElementType::U8;
  int fields = 1;  ///< channels of the image
  std::int64_t seed = 0;
  int exponent = 0;
  DiamondSquareDomain domain = DiamondSquareDomain::Finite;
  DiamondSquareRange range = DiamondSquareRange::Paper;
  double roughness = 1, amplitude = 1;
  std::vector<double> corners;
  std::vector<double> origin = {0, 0};
};

/// The image format and the field parameters that the options mean. Throw Error(BadConfig).
ImageFormat field_format(const FieldOptions& options);
DiamondSquareParams field_params(const FieldOptions& options);

/// Declares all options in the list of a parameter struct P that derives from FieldOptions.
template <class P>
void list_field(ParamList<P>& list) {
  const auto of = []<class M>(M FieldOptions::*member) -> M P::* { return member; };
  list.numbers("size", of(&FieldOptions::size), 2, 2, 1, kMaxSide, Unit::Pixels,
               "Size of the image, [width, height].");
  list.choice("number_type", of(&FieldOptions::type),
              {{"uint8", ElementType::U8}, {"uint16", ElementType::U16}, {"float32", ElementType::F32}},
              "Number type of the heights; float32 means 0 to 1.");
  list.integer("fields", of(&FieldOptions::fields), 1, 16, Unit::None,
               "How many fields, each a channel; 3 give colours.");
  list.integer("seed", of(&FieldOptions::seed), 0, (std::int64_t{1} << 53) - 1, Unit::None,
               "Which field it is.");
  list.integer("exponent", of(&FieldOptions::exponent), 0, kMaxDiamondSquareExponent, Unit::None,
               "Corners are 2^exponent px apart; 0 takes the smallest that covers the image.");
  list.choice("domain", of(&FieldOptions::domain),
              {{"finite", DiamondSquareDomain::Finite},
               {"cyclic", DiamondSquareDomain::Cyclic},
               {"endless", DiamondSquareDomain::Endless}},
              "What lies outside: nothing, the same field again (a texture that tiles), or more of it.");
  list.choice("range", of(&FieldOptions::range),
              {{"paper", DiamondSquareRange::Paper}, {"unbiased", DiamondSquareRange::Unbiased}},
              "Random numbers and rounding of integer heights; the paper's let them drift downwards.");
  list.number("roughness", of(&FieldOptions::roughness), 0, 3, Unit::None,
              "Random numbers shrink by 2^-roughness a level; the paper's is 1, less is rougher.");
  list.number("amplitude", of(&FieldOptions::amplitude), 0, 8, Unit::None,
              "Factor of the random numbers; the paper's is 1.");
  list.numbers("corners", of(&FieldOptions::corners), 0, 4, 0, 1, Unit::Fraction,
               "Heights of the corners, [top left, top right, bottom left, bottom right] (one if cyclic); "
               "empty is random.");
  list.numbers("origin", of(&FieldOptions::origin), 2, 2, -2147483648.0, 2147483647.0, Unit::Pixels,
               "Cell of the field at the image's top left, [x, y].");
}

}  // namespace contorno
