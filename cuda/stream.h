// Streams, events, captured graphs and asynchronous copies, without a CUDA header, so that the pipeline
// compiles in every build. Only the CUDA backend calls these functions; in builds without CUDA they throw.
// Arguments `stream` are cudaStream_t. All objects own what they hold, may be moved, and are used by one
// thread at a time. Functions throw Error(Internal) when the device failed.
#pragma once

#include <cstddef>
#include <utility>

namespace contorno {

/// A CUDA object behind an untyped handle; null when default-constructed.
template <class Derived>
class Handle {
 public:
  Handle() = default;
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  void* get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }

 protected:
  void reset() noexcept {
    if (handle_ != nullptr) Derived::destroy(handle_);
    handle_ = nullptr;
  }
  void* handle_ = nullptr;
};

/// A non-blocking stream; `get()` is the cudaStream_t.
class Stream : public Handle<Stream> {
 public:
  static Stream create();
  /// Waits for everything enqueued so far. Throws Error(Internal) when the device failed.
  void synchronize() const;
  static void destroy(void* handle) noexcept;
};

/// An event that records its time.
class Event : public Handle<Event> {
 public:
  static Event create();
  /// Inside a capture the event becomes part of the graph and is recorded again at every launch.
  void record(void* stream) const;
  /// Records the event for `make_wait` alone, without a time. Inside a capture it orders the graph's own
  /// work, which `record` does not.
  void mark(void* stream) const;
  /// Work that is enqueued on `stream` from now on waits until the event's last recording has passed.
  void make_wait(void* stream) const;
  void synchronize() const;
  /// Whether the last recording has passed.
  bool done() const;
  /// Microseconds between two events that were recorded and have passed.
  static double elapsed_us(const Event& from, const Event& to);
  static void destroy(void* handle) noexcept;
};

/// Work that was enqueued once between `begin_capture` and `end_capture` and can be launched again and again.
class CapturedGraph : public Handle<CapturedGraph> {
 public:
  static void begin_capture(const Stream& stream);
  static CapturedGraph end_capture(const Stream& stream);
  void launch(const Stream& stream) const;
  static void destroy(void* handle) noexcept;
};

/// Copies between any two kinds of memory, of whatever library; asynchronous if host memory is pinned. Throws
/// Error(Internal) when the device failed.
void copy_async(void* target, const void* source, std::size_t bytes, void* stream);
/// Rows in memory of the host or of a device; each begins `pitch` bytes behind the one before. Owns nothing.
struct MemoryRows {
  void* data = nullptr;
  std::size_t pitch = 0;
};
/// Copies `rows` rows of `bytes` bytes each; asynchronous if host memory is pinned. Gaps between the rows of
/// the target stay as they are. Throws Error(Internal) when the device failed.
void copy_rows_async(const MemoryRows& target, const MemoryRows& source, std::size_t bytes, std::size_t rows,
                     void* stream);
void fill_async(void* target, int byte, std::size_t bytes, void* stream);

}  // namespace contorno
