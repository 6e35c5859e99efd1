// The instruction sets that the CPU backend chooses among when the program runs, and how a function is
// compiled for one. Every set gives the same bits; a set is chosen once, when a stage is planned.
#pragma once

#include <cstdint>
#include <string_view>

/// Before a function or lambda: compiled for what Simd::Avx2 or Simd::Avx512 promises, whatever the rest of
/// the file is compiled for. Only defined for x86-64.
#if defined(__x86_64__)
#define CONTORNO_AVX2 __attribute__((target("avx2,bmi2")))
#define CONTORNO_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2")))
#endif

/// Before a function that is inlined into functions for several instruction sets: one body for all of them,
/// of whose plain loops the compiler makes vectors.
#define CONTORNO_BODY [[gnu::always_inline]] inline

namespace contorno {

/// An instruction set. Avx2 means AVX2, BMI2 and F16C; Avx512 means those and AVX-512 F, BW, DQ and VL;
/// Portable means none of them.
enum class Simd : std::uint8_t { Portable, Avx2, Avx512 };

/// The widest set that this machine has.
Simd best_simd();
/// "portable", "avx2" or "avx512".
std::string_view name_of(Simd simd);

}  // namespace contorno
