// Memory and times of the device for the baselines of the sources.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace contorno::sources {

/// Throws std::runtime_error with the error's name.
inline void need(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(error));
}

/// An array on the device, of values that begin uninitialised.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t size) : size_(size) { need(cudaMalloc(&data_, (size + 1) * sizeof(T))); }
  explicit DeviceArray(std::span<const T> values) : DeviceArray(values.size()) { set(values); }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(std::span<const T>(values)) {}
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* get() const { return data_; }
  std::size_t size() const { return size_; }
  void clear() { need(cudaMemset(data_, 0, size_ * sizeof(T))); }
  void set(std::span<const T> values) {
    need(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> read(std::size_t count) const {
    std::vector<T> values(count);
    need(cudaMemcpy(values.data(), data_, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }
  std::vector<T> read() const { return read(size_); }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Times on the default stream, by events.
class DeviceClock {
 public:
  DeviceClock() { need(cudaEventCreate(&from_)), need(cudaEventCreate(&to_)); }
  ~DeviceClock() { cudaEventDestroy(from_), cudaEventDestroy(to_); }
  DeviceClock(const DeviceClock&) = delete;
  DeviceClock& operator=(const DeviceClock&) = delete;

  void start() { need(cudaEventRecord(from_)); }
  /// Seconds since start(), when what was enqueued in between is done.
  double stop() {
    need(cudaGetLastError());
    need(cudaEventRecord(to_));
    need(cudaEventSynchronize(to_));
    float ms = 0;
    need(cudaEventElapsedTime(&ms, from_, to_));
    return 1e-3 * static_cast<double>(ms);
  }

 private:
  cudaEvent_t from_ = nullptr, to_ = nullptr;
};

/// Blocks of `block` threads for `count` of them.
inline unsigned blocks_for(std::size_t count, unsigned block) {
  return static_cast<unsigned>((count + block - 1) / block);
}

}  // namespace contorno::sources
