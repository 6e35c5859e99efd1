#include "pipeline/graph/bind.h"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "tests/pipeline/fakes.h"

using namespace contorno;

namespace {

/// Notes what it is told before the first frame.
class AskedSource final : public Source {
 public:
  explicit AskedSource(std::vector<int>& told) : told_(told) {
    format_.frame = ImageFormat{.width = 4, .height = 2, .channels = 1};
  }
  const StreamFormat& format() const override { return format_; }
  void expect_classes(int count) override { told_.push_back(count); }
  ReadResult read(FrameInput&) override { return ReadResult::End; }
  void cancel() override {}

 private:
  StreamFormat format_;
  std::vector<int>& told_;
};

}  // namespace

TEST_CASE("a source is told how many classes the graph names, and nothing where it names none") {
  std::vector<int> told;
  SourceType type;
  type.make = [&](const ParamSet&) { return std::make_unique<AskedSource>(told); };
  GraphSpec graph = fake::copy_graph();
  graph.source.type = &type;
  graph.classes.clear();
  make_source(graph);
  CHECK(told.empty());
  graph.classes.resize(3);
  make_source(graph);
  CHECK(told == std::vector<int>{3});
}
