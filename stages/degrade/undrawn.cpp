#include <cstring>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cuda/stream.h"
#include "pipeline/shared/loops.h"
#include "pipeline/value/image_rows.h"
#include "stages/degrade/lighter.h"
#include "stages/degrade/planning.h"

namespace contorno {
namespace {

struct HandedState {
  State place;
  std::size_t bytes = 0;
};

/// Plans a stage that is not going to run: it gets no memory, and its states are noted.
class NoMemoryContext final : public InnerPlanContext {
 public:
  using InnerPlanContext::InnerPlanContext;
  Scratch scratch(std::size_t /*bytes*/, MemoryKind /*kind*/) override { return {}; }
  Scratch temporary(std::size_t /*bytes*/, MemoryKind /*kind*/) override { return {}; }
  State state(std::size_t bytes) override {
    states.push_back({InnerPlanContext::state(bytes), bytes});
    return states.back().place;
  }
  void set_output(std::size_t port, const Format& format) override {
    if (format != input(0)) throw InternalError("what is drawn on has another format than the drawing");
    InnerPlanContext::set_output(port, format);
  }

  std::vector<HandedState> states;
};

class Undrawn final : public Stage {
 public:
  Undrawn(std::unique_ptr<Stage> drawing, Backend backend)
      : drawing_(std::move(drawing)), backend_(backend) {}

  void plan(PlanContext& context) override {
    NoMemoryContext without(context);
    drawing_->plan(without);
    states_ = std::move(without.states);
  }

  void run(const RunContext& context) const override {
    const ImageView &in = context.image_in(0), &out = context.image_out(0);
    if (backend_ == Backend::Cuda)
      copy_on_device(context, in, out);
    else
      copy(context, in, out);
  }

 private:
  void copy(const RunContext& context, const ImageView& in, const ImageView& out) const {
    const int height = in.format.height;
    for_rows(context.threads, height * in.format.planes(), [&](int row) {
      std::memcpy(out.row<char>(row % height, row / height), in.row<const char>(row % height, row / height),
                  in.format.row_bytes());
    });
    for (const HandedState& state : states_)
      std::memcpy(context.state_after<char>(state.place), context.state_before<char>(state.place),
                  state.bytes);
  }
  void copy_on_device(const RunContext& context, const ImageView& in, const ImageView& out) const {
    for (int plane = 0; plane < in.format.planes(); ++plane)
      copy_rows_async(rows_of(out, plane), rows_of(in, plane), in.format.row_bytes(),
                      static_cast<std::size_t>(in.format.height), context.stream);
    for (const HandedState& state : states_)
      copy_async(context.state_after<char>(state.place), context.state_before<char>(state.place), state.bytes,
                 context.stream);
  }

  std::unique_ptr<Stage> drawing_;  // only planned
  Backend backend_;
  std::vector<HandedState> states_;
};

MakeStage undrawn_maker(const MakeStage& drawing, Backend backend) {
  if (!drawing) return {};
  return [drawing, backend](const ParamSet& params) {
    return std::make_unique<Undrawn>(drawing(params), backend);
  };
}

}  // namespace

StageType undrawn(const StageType& type) {
  StageType made = type;
  made.make_cpu = undrawn_maker(type.make_cpu, Backend::Cpu);
  made.make_cuda = undrawn_maker(type.make_cuda, Backend::Cuda);
  return made;
}

}  // namespace contorno
