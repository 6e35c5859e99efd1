// Checks of CUDA calls: every call into the CUDA runtime goes through CONTORNO_CUDA_CHECK, and check_launch
// follows every launch. Only for files that may include CUDA headers.
#pragma once

#include <cuda_runtime_api.h>

namespace contorno {

/// Throws Error(Internal, or OutOfMemory) that names the call and what the runtime said.
void throw_on_error(cudaError_t status, const char* call);

/// For destructors: writes one line to stderr instead of throwing.
void log_on_error(cudaError_t status, const char* call) noexcept;

/// Throws Error(Internal) unless the last launch was accepted. Errors of the kernel itself appear when its
/// stream is waited for.
void check_launch(const char* kernel);

}  // namespace contorno

#define CONTORNO_CUDA_CHECK(call) ::contorno::throw_on_error((call), #call)
