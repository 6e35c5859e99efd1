#include "plugins/gst/element/staged_copy.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "pipeline/shared/threads.h"

namespace contorno::gst {
namespace {

/// Four threads fill more than half of a bus of PCIe 5.0.
constexpr int kMostThreads = 4;
/// The bus begins when the first part is there, and takes the last one alone.
constexpr std::size_t kPartsOfThread = 2;

MemoryRows from_row(const MemoryRows& rows, std::size_t first) {
  return {static_cast<std::byte*>(rows.data) + first * rows.pitch, rows.pitch};
}

}  // namespace

int StagedCopy::threads() {
  return std::min(kMostThreads, decided_threads(0));
}

StagedCopy::StagedCopy(std::size_t row_bytes, int rows)
    : row_bytes_(row_bytes),
      memory_(row_bytes * static_cast<std::size_t>(rows), MemoryKind::Pinned),
      stream_(Stream::create()),
      threads_(threads() - 1) {
  const auto all = static_cast<std::size_t>(rows);
  const std::size_t count = std::min(all, kPartsOfThread * static_cast<std::size_t>(threads()));
  for (std::size_t part = 0; part < count; ++part) {
    const std::size_t first = all * part / count;
    parts_.push_back({first, all * (part + 1) / count - first, Event::create()});
  }
}

/// Copies that were begun end before the error goes on: their memory is used again, or given back.
void StagedCopy::fail() {
  try {
    stream_.synchronize();
  } catch (const Error&) {  // of the same device
  }
  throw;
}

void StagedCopy::to_device(const MemoryRows& device, const MemoryRows& host) {
  const std::lock_guard lock(mutex_);
  try {
    threads_.run(static_cast<int>(parts_.size()), [&](int index) {
      const Part& part = parts_[static_cast<std::size_t>(index)];
      copy_part(part, staged(), host);
      enqueue(part, device, staged());
    });
    stream_.synchronize();
  } catch (...) {
    fail();
  }
}

void StagedCopy::to_host(const MemoryRows& host, const MemoryRows& device) {
  const std::lock_guard lock(mutex_);
  try {
    for (const Part& part : parts_) {
      enqueue(part, staged(), device);
      part.arrived.record(stream_.get());
    }
    threads_.run(static_cast<int>(parts_.size()), [&](int index) {
      const Part& part = parts_[static_cast<std::size_t>(index)];
      part.arrived.synchronize();
      copy_part(part, host, staged());
    });
  } catch (...) {
    fail();
  }
}

void StagedCopy::copy_part(const Part& part, const MemoryRows& to, const MemoryRows& from) const {
  for (std::size_t row = part.first; row < part.first + part.rows; ++row)
    std::memcpy(from_row(to, row).data, from_row(from, row).data, row_bytes_);
}

void StagedCopy::enqueue(const Part& part, const MemoryRows& to, const MemoryRows& from) const {
  copy_rows_async(from_row(to, part.first), from_row(from, part.first), row_bytes_, part.rows, stream_.get());
}

}  // namespace contorno::gst
