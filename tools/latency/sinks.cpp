#include "tools/latency/sinks.h"

#include "pipeline/shared/clock.h"

namespace contorno::latency {

void MeasuredSink::write(const FrameInfo& info, const Value& value) {
  const auto frame = static_cast<std::size_t>(info.number);
  const Columns& columns = records_.columns();
  records_.time(frame, columns.sink_start(index_)) = now_ns();
  if (sink_) sink_->write(info, value);
  records_.time(frame, columns.sink_end(index_)) = now_ns();
}

}  // namespace contorno::latency
