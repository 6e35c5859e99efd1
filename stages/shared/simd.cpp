#include "stages/shared/simd.h"

#include "base/error.h"

namespace contorno {

Simd best_simd() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  // Every processor with AVX2 converts binary16 too (F16C came a generation earlier); not every compiler can
  // ask.
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (avx2 && avx512) return Simd::Avx512;
  if (avx2) return Simd::Avx2;
#endif
  return Simd::Portable;
}

std::string_view name_of(Simd simd) {
  switch (simd) {
    case Simd::Portable:
      return "portable";
    case Simd::Avx2:
      return "avx2";
    case Simd::Avx512:
      return "avx512";
  }
  throw InternalError("unknown instruction set");
}

}  // namespace contorno
