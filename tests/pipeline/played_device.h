// A device that the host plays, so that what the pipeline does with one is tested without one: memory of kind
// Device is the host's, work on a stream is done at once, and what is enqueued during a capture is recorded
// and done at each launch. It shows what is copied, in which order, and what is run again; it computes no
// kernels, and overlaps nothing.
#pragma once

#include <functional>

namespace contorno::test {

/// What a stage of a test does in place of launching a kernel.
void enqueue_on_device(std::function<void()> work);
/// Bytes that were copied since the last call.
std::size_t copied_bytes();

}  // namespace contorno::test
