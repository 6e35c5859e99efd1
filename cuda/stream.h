// Streams, events, captured graphs and asynchronous copies, without a CUDA header: the pipeline uses these in
// every build. Without CUDA the functions throw; nobody calls them, since only the CUDA backend does. All
// objects own what they hold, may be moved, and are used by one thread at a time.
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

/// An event that keeps its time.
class Event : public Handle<Event> {
 public:
  static Event create();
  /// Inside a capture the event becomes part of the graph and is recorded again at every launch.
  void record(void* stream) const;
  /// The same for `make_wait` alone, without a time: inside a capture it orders the graph's own work, which
  /// `record` does not.
  void mark(void* stream) const;
  /// Holds up what is enqueued on `stream` from now on until the event's last recording has passed.
  void make_wait(void* stream) const;
  void synchronize() const;
  bool done() const;
  /// Time between two recorded and completed events.
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

/// Between any two kinds of memory; asynchronous when host memory is pinned.
void copy_async(void* target, const void* source, std::size_t bytes, void* stream);
void fill_async(void* target, int byte, std::size_t bytes, void* stream);

/// Named ranges for profilers (NVTX); nothing without CUDA.
class ProfilerRange {
 public:
  explicit ProfilerRange(const char* name);
  ~ProfilerRange();
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;
};

}  // namespace contorno
