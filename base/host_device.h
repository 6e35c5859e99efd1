// CONTORNO_HD marks the arithmetic that both backends run: a function object compiled for host and device.
// Empty without nvcc, so that the CPU-only build sees plain C++.
#pragma once

#if defined(__CUDACC__)
#define CONTORNO_HD __host__ __device__
#else
#define CONTORNO_HD
#endif
