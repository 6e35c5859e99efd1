#include "stages/network/self_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "pipeline/shared/printable.h"

namespace contorno {
namespace {

[[noreturn]] void refuse_test(const Net& net, const std::string& why) {
  throw Error(ExitCode::BadConfig, net.name() + ": " + why);
}

TensorSides four(const Net& net, const std::vector<std::int64_t>& sides, const std::string& path) {
  TensorSides all{1, 1, 1, 1};
  if (sides.empty() || sides.size() > all.size())
    refuse_test(net, fmt::format("{}: an array has {} sides, allowed are 1 to 4", printable(path, 200),
                                 sides.size()));
  std::ranges::copy_backward(sides, all.end());
  return all;
}

void run_check(Net& net, const NetworkCheck& check, const std::string& path) {
  const TensorSides in = four(net, check.in_sides, path), out = net.plan(in);
  if (out != four(net, check.out_sides, path))
    refuse_test(net,
                fmt::format("the self-test {} failed: it makes {} of {}, and not the output that is there",
                            printable(path, 200), describe(out), describe(in)));
  std::vector<float> got(tensor_count(out));
  net.try_run(check.input.data(), got.data());
  double most = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double off = std::abs(static_cast<double>(got[i]) - static_cast<double>(check.output[i]));
    if (!(off <= most)) most = off, at = i;  // NaN counts as off
  }
  if (!(most <= check.tolerance))
    refuse_test(net, fmt::format("the self-test {} failed: number {} of its output is {}, it should be {}, "
                                 "allowed is a difference "
                                 "of {}; take another engine, or export the model with other operators",
                                 printable(path, 200), at, got[at], check.output[at], check.tolerance));
}

/// Noise from a linear congruential generator (Numerical Recipes), the same in every run.
std::vector<float> maps_of_noise(const Net& net, const TensorPlan& plan, const TensorSides& out) {
  std::vector<float> in(tensor_count(plan.sides())), got(tensor_count(out));
  std::uint32_t state = 1;
  plan.fill_with(in.data(), [&] {
    state = state * 1664525U + 1013904223U;
    return static_cast<float>(state >> 8) / 16777216.0F;
  });
  net.try_run(in.data(), got.data());
  return got;
}

void look_at_noise(const Net& net, const TensorPlan& plan, const NetworkParams& params,
                   const TensorSides& out) {
  std::vector<float> got = maps_of_noise(net, plan, out);
  for (const float value : got)
    if (!std::isfinite(value))
      refuse_test(net, fmt::format("the self-test failed: of noise it makes {}", value));
  if (params.output == NetworkOutput::Logits) return;
  constexpr float kRounding = 1e-4F;
  for (const float value : got)
    if (value < -kRounding || value > 1 + kRounding)
      refuse_test(net, fmt::format("the self-test failed: of noise it makes {}, probabilities are from 0 to "
                                   "1; is its output logits? Then "
                                   "say output: logits, with activation: softmax or sigmoid",
                                   value));
  if (net.model().onnx.nodes.empty() || net.model().onnx.nodes.back().op != "Softmax") return;
  const double sum = plan.sum_at_first_pixel(got.data(), plan.channels_of(out, net.name()));
  if (std::abs(sum - 1) > 1e-3)
    refuse_test(net,
                fmt::format("the self-test failed: of noise the classes of a pixel sum up to {}, behind a "
                            "Softmax that is 1; take "
                            "another engine, or export the model without Softmax and say activation: softmax",
                            sum));
}

}  // namespace

void self_test(Net& net, const TensorPlan& plan, const NetworkParams& params,
               const ReadNetworkCheck& read_check) {
  const std::string key =
      fmt::format("{} {} {}", net.facts().name, describe(plan.sides()), static_cast<int>(params.output));
  const std::lock_guard lock(net.model().mutex);
  std::vector<std::string>& tested = net.model().tested;
  if (std::ranges::find(tested, key) != tested.end()) return;
  const std::string path = check_file_of(net.model().path);
  const std::optional<NetworkCheck> check = read_check ? read_check(path) : std::nullopt;
  if (check) run_check(net, *check, path);
  const TensorSides out = net.plan(plan.sides());
  if (!check) look_at_noise(net, plan, params, out);
  tested.push_back(key);
}

}  // namespace contorno
