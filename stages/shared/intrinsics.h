// The vector instructions of x86-64 as functions; empty for other processors. Included by .cpp files, and by
// headers that only .cpp files include.
#pragma once

#if defined(__x86_64__)
// GCC's own headers start some vectors from an undefined value, and it warns about that.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#endif
