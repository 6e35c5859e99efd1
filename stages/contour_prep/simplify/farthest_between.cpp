#include "stages/contour_prep/simplify/farthest_between.h"

namespace contorno {
namespace {

Farthest portable(const Point* points, std::uint32_t begin, std::uint32_t end, const Chord& chord,
                  double /*least*/) {
  return farthest_of(points, begin, end, chord, begin + 1, 1);
}

}  // namespace

FarthestBetween farthest_between(Simd simd) {
#if defined(__x86_64__)
  if (simd != Simd::Portable) return farthest_between_avx2();
#endif
  static_cast<void>(simd);
  return portable;
}

}  // namespace contorno
