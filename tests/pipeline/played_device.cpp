#include "tests/pipeline/played_device.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/host_pages.h"
#include "base/memory.h"
#include "cuda/device.h"
#include "cuda/pointer.h"
#include "cuda/stream.h"
#include "pipeline/shared/clock.h"
#include "pipeline/value/contours.h"
#include "pipeline/value/copy_contours.h"

// Takes the place of cuda/ and of the kernel that copies contours.
namespace contorno {
namespace {

using Work = std::function<void()>;
using Recorded = std::vector<Work>;

/// Of the capture of this thread; null: there is none.
thread_local std::unique_ptr<Recorded> recording;
thread_local int current = 0;
std::atomic<std::size_t> bytes_copied = 0;
std::array<std::atomic<std::size_t>, test::kPlayedDevices> launched{};
std::array<std::atomic<std::size_t>, test::kPlayedDevices> free_bytes{std::size_t{1} << 30,
                                                                      std::size_t{1} << 30};
std::mutex planted_mutex;
std::function<void(int)> planted;

struct PlayedStream {
  int device = current;
};
struct PlayedEvent {
  int device = current;
  std::atomic<std::int64_t> passed_ns = 0;
};
PlayedEvent& played(const Event& event) {
  return *static_cast<PlayedEvent*>(event.get());
}
int device_of(const void* stream) {
  return static_cast<const PlayedStream*>(stream)->device;
}
/// What CUDA refuses where a thread has another device than the one of its work.
void require_device(int device, const char* what) {
  if (device != current)
    throw InternalError(std::string(what) + " of device " + std::to_string(device) +
                        " in a thread that has device " + std::to_string(current));
}

}  // namespace

namespace test {
void enqueue_on_device(Work work) {
  if (recording)
    recording->push_back(std::move(work));
  else
    work();
}
std::size_t copied_bytes() {
  return bytes_copied.exchange(0);
}
std::array<std::size_t, kPlayedDevices> launches() {
  std::array<std::size_t, kPlayedDevices> counts{};
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = launched[i].exchange(0);
  return counts;
}
void set_free_bytes(std::array<std::size_t, kPlayedDevices> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) free_bytes[i] = bytes[i];
}
void plant_in_waiting(std::function<void(int)> what) {
  const std::lock_guard lock(planted_mutex);
  planted = std::move(what);
}
}  // namespace test

Block::Block(std::size_t bytes, MemoryKind kind) : kind_(kind) {
  if (bytes == 0) return;
  data_ = static_cast<std::byte*>(allocate_host(bytes));
  if (data_ == nullptr) throw Error(ExitCode::OutOfMemory, "out of memory");
  std::memset(data_, 0x5A, bytes);  // what nobody has written must not look like zeros
  size_ = bytes;
}
void Block::release() noexcept {
  std::free(data_);
  data_ = nullptr, size_ = 0;
}

const DeviceReport& device_report() {
  static const DeviceReport report{
      .built_in = true,
      .available = true,
      .devices = {{.index = 0, .name = "played"}, {.index = 1, .name = "played"}}};
  return report;
}
std::size_t free_device_bytes() {
  return free_bytes[static_cast<std::size_t>(current)];
}
std::string device_label(int index) {
  return std::to_string(index) + " (played)";
}
int current_device() {
  return current;
}
void set_current_device(int device) {
  if (device < 0 || device >= test::kPlayedDevices)
    throw Error(ExitCode::Unavailable, "there is no such device");
  current = device;
}

Stream Stream::create() {
  Stream stream;
  stream.handle_ = new PlayedStream;
  return stream;
}
void wait_for_device(int device) {
  if (recording) throw InternalError("a stream was waited for during a capture");
  std::function<void(int)> what;
  {
    const std::lock_guard lock(planted_mutex);
    what = planted;
  }
  if (what) what(device);
}
void Stream::synchronize() const {
  wait_for_device(device_of(handle_));
}
void Stream::destroy(void* handle) noexcept {
  delete static_cast<PlayedStream*>(handle);
}

Event Event::create() {
  Event event;
  event.handle_ = new PlayedEvent;
  return event;
}
void Event::record(void* stream) const {
  if (played(*this).device != device_of(stream))
    throw InternalError("an event was recorded on a stream of another device");
  test::enqueue_on_device([at = &played(*this)] { at->passed_ns = now_ns(); });
}
void Event::mark(void* stream) const {
  record(stream);
}
void Event::make_wait(void*) const {}
void Event::synchronize() const {}
bool Event::done() const {
  return true;
}
double Event::elapsed_us(const Event& from, const Event& to) {
  return static_cast<double>(played(to).passed_ns - played(from).passed_ns) * 1e-3;
}
void Event::destroy(void* handle) noexcept {
  delete static_cast<PlayedEvent*>(handle);
}

void CapturedGraph::begin_capture(const Stream& stream) {
  require_device(device_of(stream.get()), "a capture");
  recording = std::make_unique<Recorded>();
}
CapturedGraph CapturedGraph::end_capture(const Stream&) {
  CapturedGraph graph;
  graph.handle_ = recording.release();
  return graph;
}
void CapturedGraph::launch(const Stream& stream) const {
  require_device(device_of(stream.get()), "a launch");
  ++launched[static_cast<std::size_t>(current)];
  for (const Work& work : *static_cast<const Recorded*>(handle_)) work();
}
void CapturedGraph::destroy(void* handle) noexcept {
  delete static_cast<Recorded*>(handle);
}

void copy_async(void* target, const void* source, std::size_t bytes, void*) {
  test::enqueue_on_device([=] {
    std::memmove(target, source, bytes);
    bytes_copied += bytes;
  });
}
void copy_rows_async(const MemoryRows& target, const MemoryRows& source, std::size_t bytes, std::size_t rows,
                     void*) {
  test::enqueue_on_device([=] {
    for (std::size_t row = 0; row < rows; ++row)
      std::memmove(static_cast<char*>(target.data) + row * target.pitch,
                   static_cast<const char*>(source.data) + row * source.pitch, bytes);
    bytes_copied += bytes * rows;
  });
}
void synchronize_stream(void*) {  // of whatever library
  wait_for_device(current);
}
void fill_async(void* target, int byte, std::size_t bytes, void*) {
  test::enqueue_on_device([=] { std::memset(target, byte, bytes); });
}
void copy_contours_async(const ContoursView& from, const ContoursView& to, void*) {
  test::enqueue_on_device([from, to] { copy_contours(from, to); });
}

}  // namespace contorno
