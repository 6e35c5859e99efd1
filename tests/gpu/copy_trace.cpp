#include "tests/gpu/copy_trace.h"

#include <cstdio>
#include <cstdlib>

#if CONTORNO_HAVE_CUPTI
#include <cupti.h>
#endif

namespace contorno::test {

#if CONTORNO_HAVE_CUPTI
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20U;
constexpr std::size_t kRecordAlignment = 8;

CopyReport report;  // filled while records are handed over, which CUPTI does in one thread at a time

void check(CUptiResult result, const char* what) {
  if (result == CUPTI_SUCCESS) return;
  const char* text = nullptr;
  cuptiGetResultString(result, &text);
  std::fprintf(stderr, "FAILED: %s: %s\n", what, text != nullptr ? text : "unknown");
  std::exit(1);
}

void add(std::uint8_t kind, std::uint64_t bytes) {
  Copies& copies =
      kind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD || kind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOA   ? report.to_device
      : kind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH || kind == CUPTI_ACTIVITY_MEMCPY_KIND_ATOH ? report.to_host
      : kind == CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN || kind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOH
          ? report.others
          : report.on_device;
  ++copies.number;
  copies.bytes += bytes;
}

void give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *size = kBufferBytes;
  *most_records = 0;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kRecordAlignment, kBufferBytes));
}

void take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                 std::size_t valid) {
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    // Fields keep their places from version to version of these records.
    if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
      const auto* const copy = reinterpret_cast<const CUpti_ActivityMemcpy5*>(record);
      add(copy->copyKind, copy->bytes);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY2) {
      const auto* const copy = reinterpret_cast<const CUpti_ActivityMemcpyPtoP4*>(record);
      add(copy->copyKind, copy->bytes);
    }
  }
  std::size_t lost = 0;
  cuptiActivityGetNumDroppedRecords(context, stream, &lost);
  report.lost += lost;
  std::free(buffer);
}

}  // namespace

bool can_trace_copies() {
  return true;
}

void begin_copy_trace() {
  check(cuptiActivityRegisterCallbacks(give_buffer, take_buffer), "cuptiActivityRegisterCallbacks");
  check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY), "cuptiActivityEnable");
  check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY2), "cuptiActivityEnable");
}

CopyReport end_copy_trace() {
  check(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "cuptiActivityFlushAll");
  return report;
}

#else

bool can_trace_copies() {
  return false;
}
void begin_copy_trace() {}
CopyReport end_copy_trace() {
  return {};
}

#endif

}  // namespace contorno::test
