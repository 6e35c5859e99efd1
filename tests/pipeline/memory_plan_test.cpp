#include "pipeline/graph/memory_plan.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "base/memory.h"

using namespace contorno;

namespace {

struct Asked {
  std::size_t bytes;
  Lifetime lifetime;
};

bool is_needed(const Asked& one, int node) {
  return one.lifetime.first <= node && node <= one.lifetime.last;
}

MemoryPlan plan_of(const std::vector<Asked>& asked, MemorySharing sharing) {
  MemoryPlan plan;
  for (const Asked& one : asked) plan.add(one.bytes, one.lifetime);
  plan.place(sharing);
  return plan;
}

constexpr int kNodes = 12, kLastNode = kNodes + 4;

std::vector<Asked> random_blocks(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Asked> asked;
  for (int i = 0; i < 60; ++i) {
    const int first = static_cast<int>(random() % static_cast<unsigned>(kNodes + 1)) - 1;
    const int last = random() % 8 == 0 ? Lifetime::kEnd : first + static_cast<int>(random() % 4);
    const Lifetime some{first, last};
    asked.push_back({random() % 5000, random() % 5 == 0 ? Lifetime{} : some});
  }
  return asked;
}

/// The bytes that are needed while node `at` runs.
std::size_t needed_at(const std::vector<Asked>& asked, int at) {
  std::size_t bytes = 0;
  for (const Asked& one : asked)
    if (is_needed(one, at)) bytes += align_up(one.bytes);
  return bytes;
}

bool lie_apart(const MemoryPlan& plan, const std::vector<Asked>& asked, std::size_t a, std::size_t b) {
  return plan.offset(a) + align_up(asked[a].bytes) <= plan.offset(b) ||
         plan.offset(b) + align_up(asked[b].bytes) <= plan.offset(a);
}

}  // namespace

TEST_CASE("no two blocks that are needed at one time share an address, and none is outside") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const std::vector<Asked> asked = random_blocks(seed);
    const MemoryPlan shared = plan_of(asked, MemorySharing::Shared),
                     apart = plan_of(asked, MemorySharing::Apart),
                     filled = plan_of(asked, MemorySharing::Filled);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      CHECK(filled.offset(i) == shared.offset(i));
      for (const MemoryPlan* plan : {&shared, &apart}) {
        CHECK(plan->offset(i) % kAlignment == 0);
        CHECK(plan->offset(i) + asked[i].bytes <= plan->bytes());
      }
      for (std::size_t k = 0; k < i; ++k) {
        bool together = false;
        for (int node = -1; node <= kLastNode; ++node)
          together = together || (is_needed(asked[i], node) && is_needed(asked[k], node));
        if (together) CHECK(lie_apart(shared, asked, i, k));
        CHECK(lie_apart(apart, asked, i, k));
      }
    }
  }
}

TEST_CASE("blocks take hardly more than the busiest node needs") {
  std::size_t taken = 0, least = 0, apart = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    const std::vector<Asked> asked = random_blocks(seed);
    std::size_t busiest = 0, all = 0;
    for (int node = -1; node <= kLastNode; ++node) busiest = std::max(busiest, needed_at(asked, node));
    for (const Asked& one : asked) all += align_up(one.bytes);
    const MemoryPlan plan = plan_of(asked, MemorySharing::Shared);
    CHECK(plan.bytes() >= busiest);
    CHECK(plan.bytes_apart() == all);
    CHECK(plan_of(asked, MemorySharing::Apart).bytes() == all);
    taken += plan.bytes(), least += busiest, apart += all;
  }
  CHECK(static_cast<double>(taken) < 1.03 * static_cast<double>(least));
  CHECK(taken < apart);
}

TEST_CASE("a chain of equal blocks takes two, and a block that is kept one more") {
  std::vector<Asked> chain;
  for (int node = 0; node < 9; ++node) chain.push_back({kAlignment, {node, node + 1}});
  CHECK(plan_of(chain, MemorySharing::Shared).bytes() == 2 * kAlignment);
  chain[4].lifetime.last = Lifetime::kEnd;
  CHECK(plan_of(chain, MemorySharing::Shared).bytes() == 3 * kAlignment);
  CHECK(plan_of({}, MemorySharing::Shared).bytes() == 0);
}
