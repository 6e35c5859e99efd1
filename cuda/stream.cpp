#include "cuda/stream.h"

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdio>
#include <string>

#include "base/error.h"
#include "cuda/check.h"

namespace contorno {

void throw_on_error(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  throw Error(status == cudaErrorMemoryAllocation ? ExitCode::OutOfMemory : ExitCode::Internal,
              std::string("CUDA: ") + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ", in " +
                  call + ")");
}

void log_on_error(cudaError_t status, const char* call) noexcept {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  // A broken device fails every call that follows with the same error; one line of it is enough.
  static std::atomic<int> last{cudaSuccess};
  if (last.exchange(status) == status) return;
  std::fprintf(stderr, "contorno: CUDA: %s (in %s)\n", cudaGetErrorString(status), call);
}

void check_launch(const char* kernel) {
  throw_on_error(cudaGetLastError(), kernel);
}

namespace {
cudaStream_t stream_of(void* handle) {
  return static_cast<cudaStream_t>(handle);
}
cudaEvent_t event_of(void* handle) {
  return static_cast<cudaEvent_t>(handle);
}
}  // namespace

Stream Stream::create() {
  Stream stream;
  cudaStream_t handle = nullptr;
  CONTORNO_CUDA_CHECK(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking));
  stream.handle_ = handle;
  return stream;
}
void Stream::synchronize() const {
  CONTORNO_CUDA_CHECK(cudaStreamSynchronize(stream_of(handle_)));
}
void Stream::destroy(void* handle) noexcept {
  log_on_error(cudaStreamDestroy(stream_of(handle)), "cudaStreamDestroy");
}

Event Event::create() {
  Event event;
  cudaEvent_t handle = nullptr;
  CONTORNO_CUDA_CHECK(cudaEventCreate(&handle));
  event.handle_ = handle;
  return event;
}
void Event::record(void* stream) const {
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  CONTORNO_CUDA_CHECK(cudaStreamIsCapturing(stream_of(stream), &capturing));
  const unsigned flags =
      capturing == cudaStreamCaptureStatusNone ? cudaEventRecordDefault : cudaEventRecordExternal;
  CONTORNO_CUDA_CHECK(cudaEventRecordWithFlags(event_of(handle_), stream_of(stream), flags));
}
void Event::mark(void* stream) const {
  CONTORNO_CUDA_CHECK(cudaEventRecord(event_of(handle_), stream_of(stream)));
}
void Event::make_wait(void* stream) const {
  CONTORNO_CUDA_CHECK(cudaStreamWaitEvent(stream_of(stream), event_of(handle_), cudaEventWaitDefault));
}
void Event::synchronize() const {
  CONTORNO_CUDA_CHECK(cudaEventSynchronize(event_of(handle_)));
}
bool Event::done() const {
  const cudaError_t status = cudaEventQuery(event_of(handle_));
  if (status == cudaErrorNotReady) return false;
  CONTORNO_CUDA_CHECK(status);
  return true;
}
double Event::elapsed_us(const Event& from, const Event& to) {
  float milliseconds = 0;
  CONTORNO_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, event_of(from.handle_), event_of(to.handle_)));
  return static_cast<double>(milliseconds) * 1e3;
}
void Event::destroy(void* handle) noexcept {
  log_on_error(cudaEventDestroy(event_of(handle)), "cudaEventDestroy");
}

void CapturedGraph::begin_capture(const Stream& stream) {
  CONTORNO_CUDA_CHECK(cudaStreamBeginCapture(stream_of(stream.get()), cudaStreamCaptureModeThreadLocal));
}
CapturedGraph CapturedGraph::end_capture(const Stream& stream) {
  cudaGraph_t graph = nullptr;
  CONTORNO_CUDA_CHECK(cudaStreamEndCapture(stream_of(stream.get()), &graph));
  cudaGraphExec_t executable = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&executable, graph, 0);
  log_on_error(cudaGraphDestroy(graph), "cudaGraphDestroy");
  throw_on_error(status, "cudaGraphInstantiate");
  CapturedGraph captured;
  captured.handle_ = executable;
  return captured;
}
void CapturedGraph::launch(const Stream& stream) const {
  CONTORNO_CUDA_CHECK(cudaGraphLaunch(static_cast<cudaGraphExec_t>(handle_), stream_of(stream.get())));
}
void CapturedGraph::destroy(void* handle) noexcept {
  log_on_error(cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(handle)), "cudaGraphExecDestroy");
}

void copy_async(void* target, const void* source, std::size_t bytes, void* stream) {
  CONTORNO_CUDA_CHECK(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault, stream_of(stream)));
}
void copy_rows_async(const MemoryRows& target, const MemoryRows& source, std::size_t bytes, std::size_t rows,
                     void* stream) {
  if (rows == 0) return;
  CONTORNO_CUDA_CHECK(cudaMemcpy2DAsync(target.data, target.pitch, source.data, source.pitch, bytes, rows,
                                        cudaMemcpyDefault, stream_of(stream)));
}
void fill_async(void* target, int byte, std::size_t bytes, void* stream) {
  CONTORNO_CUDA_CHECK(cudaMemsetAsync(target, byte, bytes, stream_of(stream)));
}

}  // namespace contorno
