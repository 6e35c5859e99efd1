// StagedCopy: copies of frames between ordinary memory and the device by several threads. The driver copies
// such memory with one, which is slower than the bus. Here some threads copy rows to or from page-locked
// memory, while the bus takes those that are there. Copies may be asked for by any thread; they are made one
// after the other.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "base/memory.h"
#include "cuda/stream.h"
#include "plugins/gst/element/part_threads.h"

namespace contorno::gst {

class StagedCopy {
 public:
  /// Threads that a copy can use on this machine. Callers make one only where these are several: with one it
  /// would be no faster than the driver.
  static int threads();

  /// For frames of `rows` rows of `row_bytes` bytes, of which it takes page-locked memory for one. Throws
  /// Error(OutOfMemory).
  StagedCopy(std::size_t row_bytes, int rows);

  /// Both have the rows of the constructor; other work on `device` must have ended. Complete when they
  /// return. Throw Error(Internal) when the device failed.
  void to_device(const MemoryRows& device, const MemoryRows& host);
  void to_host(const MemoryRows& host, const MemoryRows& device);

 private:
  struct Part {
    std::size_t first = 0, rows = 0;
    Event arrived;  ///< signals that a band has arrived in memory_ on its way to the host
  };
  [[noreturn]] void fail();  // called in a handler, throws its exception again
  MemoryRows staged() const { return {memory_.data(), row_bytes_}; }
  void copy_part(const Part& part, const MemoryRows& to, const MemoryRows& from) const;
  void enqueue(const Part& part, const MemoryRows& to, const MemoryRows& from) const;

  const std::size_t row_bytes_;
  Block memory_;
  Stream stream_;
  std::vector<Part> parts_;
  std::mutex mutex_;
  PartThreads threads_;  // last: they use the others
};

}  // namespace contorno::gst
