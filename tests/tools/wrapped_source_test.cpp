// What stands in front of a source passes on what that has to say of itself.
#include "tools/replay/wrapped_source.h"

#include <doctest/doctest.h>

#include <memory>

#include "tests/pipeline/fakes.h"
#include "tools/latency/timed_source.h"

namespace contorno {
namespace {

TEST_CASE("what stands in front of a source tells its faults and reconnections") {
  auto source = std::make_unique<fake::CountingSource>(3);
  source->at_end = {{.sentence = "3 of 5 frames came", .missing = 2}};
  source->reconnected = 2;
  latency::FrameRecords records(3, {});
  const latency::Delivery delivery;
  const latency::TimedSource timed(nullptr, source.get(), delivery, records);
  CHECK(timed.faults() == source->at_end);
  CHECK(timed.reconnections() == 2);
  // Of a source whose frames were read beforehand, nobody reads while it is measured.
  const latency::HeldFrames held(*source, 1, 1024);
  const latency::TimedSource from_memory(&held, source.get(), delivery, records);
  CHECK(from_memory.faults().empty());
  CHECK(from_memory.reconnections() == 0);
  const std::vector<SourceFault> faults = source->at_end;
  const WrappedSource wrapped(std::move(source));
  CHECK(wrapped.faults() == faults);
  CHECK(wrapped.reconnections() == 2);
}

}  // namespace
}  // namespace contorno
