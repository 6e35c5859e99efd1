#include "pipeline/graph/memory_plan.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "base/memory.h"

using namespace contorno;

namespace {

struct Asked {
  std::size_t bytes;
  bool own;
  Lifetime lifetime;
};

MemoryPlan plan_of(const std::vector<Asked>& asked, MemorySharing sharing) {
  MemoryPlan plan;
  for (const Asked& one : asked) one.own ? plan.add(one.bytes) : plan.add(one.bytes, one.lifetime);
  plan.place(sharing);
  return plan;
}

std::vector<Asked> random_blocks(unsigned seed, int nodes) {
  std::mt19937 random(seed);
  std::vector<Asked> asked;
  for (int i = 0; i < 60; ++i) {
    const int first = static_cast<int>(random() % static_cast<unsigned>(nodes + 1)) - 1;
    const int last = random() % 8 == 0 ? Lifetime::kEnd : first + static_cast<int>(random() % 4);
    asked.push_back({random() % 5000, random() % 5 == 0, {first, last}});
  }
  return asked;
}

/// The bytes that are needed while node `at` runs.
std::size_t needed_at(const std::vector<Asked>& asked, int at) {
  std::size_t bytes = 0;
  for (const Asked& one : asked)
    if (one.own || (one.lifetime.first <= at && at <= one.lifetime.last)) bytes += align_up(one.bytes);
  return bytes;
}

}  // namespace

TEST_CASE("no two blocks that are needed at one time share an address, and none is outside") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const std::vector<Asked> asked = random_blocks(seed, 12);
    const MemoryPlan plan = plan_of(asked, MemorySharing::Shared);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      CHECK(plan.offset(i) % kAlignment == 0);
      CHECK(plan.offset(i) + asked[i].bytes <= plan.bytes());
      for (std::size_t k = 0; k < i; ++k) {
        bool together = asked[i].own || asked[k].own;
        for (int node = -1; node <= 20; ++node)
          together = together || (asked[i].lifetime.first <= node && node <= asked[i].lifetime.last &&
                                  asked[k].lifetime.first <= node && node <= asked[k].lifetime.last);
        const bool apart = plan.offset(i) + align_up(asked[i].bytes) <= plan.offset(k) ||
                           plan.offset(k) + align_up(asked[k].bytes) <= plan.offset(i);
        if (together) CHECK(apart);
      }
    }
  }
}

TEST_CASE("blocks take hardly more than the busiest node needs") {
  std::size_t taken = 0, least = 0, apart = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    const std::vector<Asked> asked = random_blocks(seed, 12);
    std::size_t busiest = 0, all = 0;
    for (int node = -1; node <= 20; ++node) busiest = std::max(busiest, needed_at(asked, node));
    for (const Asked& one : asked) all += align_up(one.bytes);
    const MemoryPlan plan = plan_of(asked, MemorySharing::Shared);
    CHECK(plan.bytes() >= busiest);
    CHECK(plan.bytes_apart() == all);
    CHECK(plan_of(asked, MemorySharing::Filled).bytes() == plan.bytes());
    CHECK(plan_of(asked, MemorySharing::Apart).bytes() == all);
    taken += plan.bytes(), least += busiest, apart += all;
  }
  CHECK(static_cast<double>(taken) < 1.1 * static_cast<double>(least));
  CHECK(taken < apart);
}

TEST_CASE("a chain of equal blocks takes two, and a block that is kept one more") {
  std::vector<Asked> chain;
  for (int node = 0; node < 9; ++node) chain.push_back({kAlignment, false, {node, node + 1}});
  CHECK(plan_of(chain, MemorySharing::Shared).bytes() == 2 * kAlignment);
  chain[4].lifetime.last = Lifetime::kEnd;
  CHECK(plan_of(chain, MemorySharing::Shared).bytes() == 3 * kAlignment);
  CHECK(plan_of({}, MemorySharing::Shared).bytes() == 0);
}
