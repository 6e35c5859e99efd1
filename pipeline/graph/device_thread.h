// On which device a thread works: CUDA has a current device for each thread, at first number 0. A thread that
// works for one run alone is bound to the run's device once; any other one is left as it is.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "cuda/device.h"
#include "pipeline/graph/graph.h"

namespace contorno {

/// Binds this thread for good; does nothing where the choice is not Cuda. Throws Error(Unavailable) when
/// there is no such device, Error(Internal) when it failed.
void bind_thread(const BackendChoice& choice);

/// Does `work` where the device of the choice is the current one: in this thread, or, where that has another
/// one, in a thread of its own. (To give a thread its device back would begin a context on that device.)
/// Throws what `work` and bind_thread throw, and Error(OutOfMemory) when no thread can be started.
void with_device(const BackendChoice& choice, const std::function<void()>& work);

/// Bytes that are free now on a device. Begins its context. Throws as with_device.
std::size_t free_bytes_of(int device);
/// The number of the device that has most of them, the first one of equals; a single one is not asked.
int roomiest_device(const std::vector<DeviceInfo>& devices);

}  // namespace contorno
