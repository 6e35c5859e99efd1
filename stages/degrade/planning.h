// What a stage sees while it is planned within another one. Internal.
#pragma once

#include <optional>

#include "pipeline/graph/stage.h"

namespace contorno {

/// Everything is what the outer stage sees, unless it is overridden.
class InnerPlanContext : public PlanContext {
 public:
  explicit InnerPlanContext(PlanContext& outer) : outer_(outer) {}
  const Format& input(std::size_t port) const override { return outer_.input(port); }
  void set_output(std::size_t port, const Format& format) override { outer_.set_output(port, format); }
  Scratch scratch(std::size_t bytes, MemoryKind kind) override { return outer_.scratch(bytes, kind); }
  Scratch temporary(std::size_t bytes, MemoryKind kind) override { return outer_.temporary(bytes, kind); }
  State state(std::size_t bytes) override { return outer_.state(bytes); }
  std::span<const ClassSpec> classes() const override { return outer_.classes(); }
  std::uint64_t capacity(std::uint64_t first_guess) const override { return outer_.capacity(first_guess); }
  int threads() const override { return outer_.threads(); }
  const TextRasteriser* text() const override { return outer_.text(); }

 protected:
  PlanContext& outer() { return outer_; }

 private:
  PlanContext& outer_;
};

}  // namespace contorno
