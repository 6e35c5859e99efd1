// A source that passes on all of another one; what stands in front of a source is derived from it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/graph/source.h"

namespace contorno {

class WrappedSource : public Source {
 public:
  explicit WrappedSource(std::unique_ptr<Source> source) : source_(std::move(source)) {}

  const StreamFormat& format() const override { return source_->format(); }
  void expect_classes(int count) override { source_->expect_classes(count); }
  std::vector<SourceFault> faults() const override { return source_->faults(); }
  std::uint64_t reconnections() const override { return source_->reconnections(); }
  std::vector<std::string> files() const override { return source_->files(); }
  ReadResult read(FrameInput& input) override { return source_->read(input); }
  void cancel() override { source_->cancel(); }

 private:
  std::unique_ptr<Source> source_;
};

}  // namespace contorno
