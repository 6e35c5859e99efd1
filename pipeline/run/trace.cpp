#include "pipeline/run/trace.h"

#include <fmt/format.h>

#include <algorithm>

namespace contorno {
namespace {

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + '"';
}

}  // namespace

std::size_t Trace::left_out() const {
  return std::max(used_.load(), slices_.size()) - slices_.size();
}

std::string Trace::to_json(const std::vector<std::pair<std::int32_t, std::string>>& track_names) const {
  const std::size_t count = std::min(used_.load(), slices_.size());
  std::int64_t origin = count == 0 ? 0 : slices_[0].start_ns;
  for (std::size_t i = 0; i < count; ++i) origin = std::min(origin, slices_[i].start_ns);
  std::string out = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  for (const auto& [track, name] : track_names)
    out += fmt::format(
        "{{\"ph\":\"M\",\"pid\":1,\"tid\":{},\"name\":\"thread_name\",\"args\":{{\"name\":{}}}}},\n", track,
        json_text(name));
  for (std::size_t i = 0; i < count; ++i) {
    const Slice& slice = slices_[i];
    out += fmt::format(
        "{{\"ph\":\"X\",\"pid\":1,\"tid\":{},\"name\":{},\"ts\":{:.3f},\"dur\":{:.3f},\"args\":{{\"frame\":{}"
        "}}}},\n",
        slice.track, json_text(slice.name), static_cast<double>(slice.start_ns - origin) * 1e-3,
        static_cast<double>(slice.end_ns - slice.start_ns) * 1e-3, slice.frame);
  }
  out += fmt::format(
      "{{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_name\",\"args\":{{\"name\":\"contorno\"}}}}\n");
  return out + "]}\n";
}

}  // namespace contorno
