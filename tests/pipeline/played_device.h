// Two devices that the host plays, so that what the pipeline does with them is tested without any: memory of
// kind Device is the host's, work on a stream is done at once, and what is enqueued during a capture is
// recorded and done at each launch. It shows what is copied, in which order, and what is run again; it
// computes no kernels, and overlaps nothing. Each thread has a current device, as with CUDA: what is planned,
// launched or recorded in a thread that has the wrong one throws InternalError.
#pragma once

#include <array>
#include <cstddef>
#include <functional>

namespace contorno::test {

inline constexpr int kPlayedDevices = 2;

/// What a stage of a test does in place of launching a kernel.
void enqueue_on_device(std::function<void()> work);
/// Bytes that were copied since the last call.
std::size_t copied_bytes();
/// Graphs that were launched on each device since the last call.
std::array<std::size_t, kPlayedDevices> launches();
/// How much each device says is free, from now on.
void set_free_bytes(std::array<std::size_t, kPlayedDevices> bytes);
/// Called whenever a stream is waited for, with the number of its device: it may throw Error as a device that
/// broke, or not return as one that hangs. Empty: nothing is planted.
void plant_in_waiting(std::function<void(int device)> planted);

}  // namespace contorno::test
