// The kernels of contorno_fault (fault.cpp), by what is planted in them.
#pragma once

namespace contorno::fault {

/// Copies one number on `stream` (a cudaStream_t); all three are of the device. Both fail at the number 5.
using Copy = void (*)(const unsigned* in, unsigned* out, void* stream);
void copy_or_write_far(const unsigned* in, unsigned* out, void* stream);
void copy_or_hang(const unsigned* in, unsigned* out, void* stream);

/// Each takes 64 numbers in memory of the device, and only compute-sanitizer sees what is wrong.
void race(unsigned* out, void* stream);
void read_uninitialised(const unsigned* in, unsigned* out, void* stream);
void divergent_barrier(unsigned* out, void* stream);

}  // namespace contorno::fault
