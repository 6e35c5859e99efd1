// A stage that is applied to what the caller has, without a runner.
#include "pipeline/graph/applied.h"

#include <doctest/doctest.h>

#include <vector>

#include "base/error.h"
#include "tests/pipeline/fakes.h"

using namespace contorno;

TEST_CASE("a format that was refused is refused again, and another one planned") {
  const StageType& type = fake::copy_stage();
  AppliedStage applied(type, ParamSet(type.params), Backend::Cpu, 1);
  const auto of_width = [](int width) {
    return std::vector<Format>{ImageFormat{.width = width, .height = 2, .channels = 1}};
  };
  for (int time = 0; time < 2; ++time)
    CHECK_THROWS_WITH_AS(applied.plan(of_width(9)), doctest::Contains("width is 9, allowed is 8"), Error);
  for (const std::uint32_t number : {7U, 8U}) {
    applied.plan(of_width(8));
    *applied.image_input(0).row<std::uint32_t>(0) = number;
    applied.run();
    CHECK(*std::get<ImageView>(applied.output(0)).row<std::uint32_t>(0) == number);
  }
  CHECK_THROWS_AS(applied.plan(of_width(9)), Error);
}
