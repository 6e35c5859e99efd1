#include "tools/latency/resources.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "pipeline/shared/clock.h"

namespace contorno::latency {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

std::int64_t resident_bytes() {
  // Without a stream, which would allocate while the allocations of frames are counted.
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen("/proc/self/statm", "r"), &std::fclose);
  long long resident = 0;
  if (!file || std::fscanf(file.get(), "%*s %lld", &resident) != 1) return 0;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace

UsedSoFar used_so_far() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const struct mallinfo2 heap = mallinfo2();
  return {.at_ns = now_ns(),
          .cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime),
          .heap_bytes = static_cast<std::int64_t>(heap.uordblks + heap.hblkhd),
          .minor_faults = usage.ru_minflt,
          .major_faults = usage.ru_majflt,
          .involuntary_switches = usage.ru_nivcsw,
          .resident_bytes = resident_bytes()};
}

Resources used_between(const UsedSoFar& begin, const UsedSoFar& end) {
  return {.wall_s = static_cast<double>(end.at_ns - begin.at_ns) * 1e-9,
          .cpu_s = end.cpu_s - begin.cpu_s,
          .heap_growth_bytes = end.heap_bytes - begin.heap_bytes,
          .minor_faults = end.minor_faults - begin.minor_faults,
          .major_faults = end.major_faults - begin.major_faults,
          .involuntary_switches = end.involuntary_switches - begin.involuntary_switches,
          .resident_begin_bytes = begin.resident_bytes,
          .resident_end_bytes = end.resident_bytes};
}

}  // namespace contorno::latency
