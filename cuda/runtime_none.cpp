// The substrate of a build without CUDA: the same symbols, host memory only.
#include <cstdlib>
#include <new>

#include "base/error.h"
#include "base/host_pages.h"
#include "base/memory.h"
#include "cuda/device.h"
#include "cuda/pointer.h"
#include "cuda/stream.h"

namespace contorno {

Block::Block(std::size_t bytes, MemoryKind kind) : kind_(kind) {
  if (bytes == 0) return;
  if (kind == MemoryKind::Device)
    throw Error(ExitCode::Unavailable, "device memory was asked for, but this build has no CUDA backend");
  data_ = static_cast<std::byte*>(allocate_host(bytes));
  if (data_ == nullptr)
    throw Error(ExitCode::OutOfMemory, "out of memory: " + std::to_string(bytes) + " bytes were asked for");
  size_ = bytes;
}

void Block::release() noexcept {
  std::free(data_);
  data_ = nullptr;
  size_ = 0;
}

const DeviceReport& device_report() {
  static const DeviceReport report{
      .reason = "this build of contorno has no CUDA backend",
      .fix = "install the CUDA Toolkit (nvcc on PATH) and build again with the preset 'release'",
  };
  return report;
}

namespace {
[[noreturn]] void no_cuda() {
  throw InternalError("a CUDA object was used in a build without CUDA");
}
}  // namespace

Stream Stream::create() {
  no_cuda();
}
void Stream::synchronize() const {
  no_cuda();
}
void Stream::destroy(void*) noexcept {}
Event Event::create() {
  no_cuda();
}
void Event::record(void*) const {
  no_cuda();
}
void Event::mark(void*) const {
  no_cuda();
}
void Event::make_wait(void*) const {
  no_cuda();
}
void Event::synchronize() const {
  no_cuda();
}
bool Event::done() const {
  no_cuda();
}
double Event::elapsed_us(const Event&, const Event&) {
  no_cuda();
}
void Event::destroy(void*) noexcept {}
void CapturedGraph::begin_capture(const Stream&) {
  no_cuda();
}
CapturedGraph CapturedGraph::end_capture(const Stream&) {
  no_cuda();
}
void CapturedGraph::launch(const Stream&) const {
  no_cuda();
}
void CapturedGraph::destroy(void*) noexcept {}
void copy_async(void*, const void*, std::size_t, void*) {
  no_cuda();
}
void copy_rows_async(const MemoryRows&, const MemoryRows&, std::size_t, std::size_t, void*) {
  no_cuda();
}
void fill_async(void*, int, std::size_t, void*) {
  no_cuda();
}
PointerInfo pointer_info(const void*) noexcept {
  return {};
}
bool is_allocated(const void*, std::size_t) noexcept {
  return false;
}
DeviceScope::DeviceScope(int) {
  no_cuda();
}
DeviceScope::~DeviceScope() = default;
int current_device() {
  no_cuda();
}
void set_current_device(int) {
  no_cuda();
}
std::size_t free_device_bytes() {
  no_cuda();
}
void synchronize_stream(void*) {
  no_cuda();
}

}  // namespace contorno
