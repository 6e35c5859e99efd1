#include "plugins/publish/outbox/batch_size.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

using contorno::outbox::BatchSize;

namespace {

constexpr std::int64_t kTimeOut = 1000;

/// The sizes of so many attempts to send over a line that takes `per_message` for each.
std::vector<std::size_t> sizes_over(std::int64_t per_message, int attempts) {
  BatchSize size(kTimeOut);
  std::vector<std::size_t> sizes;
  for (int i = 0; i < attempts; ++i) {
    sizes.push_back(size.messages());
    const std::int64_t took = per_message * static_cast<std::int64_t>(size.messages());
    if (took > kTimeOut)
      size.failed(size.messages(), kTimeOut);
    else
      size.acknowledged(size.messages(), took);
  }
  return sizes;
}

}  // namespace

TEST_CASE("a fast line gets the largest batches from the first on") {
  CHECK(sizes_over(1, 3) == std::vector<std::size_t>{64, 64, 64});
}

TEST_CASE("a slow line gets batches that it carries in time, however slow it is, and no larger ones again") {
  CHECK(sizes_over(20, 6) == std::vector<std::size_t>{64, 32, 16, 16, 16, 16});
  CHECK(sizes_over(200, 6) == std::vector<std::size_t>{64, 32, 16, 8, 4, 2});
  CHECK(sizes_over(1000, 8) == std::vector<std::size_t>{64, 32, 16, 8, 4, 2, 1, 1});
  for (const std::int64_t per_message : {1, 7, 15, 16, 30, 63, 99, 251, 499, 501, 999}) {
    const std::vector<std::size_t> sizes = sizes_over(per_message, 40);
    CAPTURE(per_message);
    for (std::size_t i = 6; i < sizes.size(); ++i)
      CHECK(per_message * static_cast<std::int64_t>(sizes[i]) <= kTimeOut);
  }
}

TEST_CASE("a line that was slow gets large batches again") {
  BatchSize size(kTimeOut);
  for (int i = 0; i < 10; ++i) size.failed(size.messages(), kTimeOut);
  CHECK(size.messages() == 1);
  std::vector<std::size_t> sizes;
  for (int i = 0; i < 7; ++i) {
    size.acknowledged(size.messages(), 1);
    sizes.push_back(size.messages());
  }
  CHECK(sizes == std::vector<std::size_t>{2, 4, 8, 16, 32, 64, 64});
}

TEST_CASE("a broker that refuses at once, or is away, makes batches no smaller") {
  BatchSize size(kTimeOut);
  for (int i = 0; i < 10; ++i) size.failed(size.messages(), kTimeOut / 2);
  CHECK(size.messages() == BatchSize::kMost);
}

TEST_CASE("a batch that is not whole says nothing of larger ones") {
  BatchSize size(kTimeOut);
  size.failed(20, kTimeOut);  // there were no more
  CHECK(size.messages() == 10);
  size.acknowledged(9, 1);
  CHECK(size.messages() == 10);
  size.acknowledged(10, 1);
  CHECK(size.messages() == 20);
  size.acknowledged(6, kTimeOut);
  CHECK(size.messages() == 3);
}

TEST_CASE("as many messages go together as have room, and one that has none goes alone") {
  const std::vector<std::size_t> sizes{300, 400, 300, 1, 2000, 5};
  const auto within = [&](std::size_t first, std::size_t most) {
    return contorno::outbox::count_within(sizes.size() - first, most,
                                          [&](std::size_t i) { return sizes[first + i]; });
  };
  CHECK(within(0, 1000) == 3);  // to the byte
  CHECK(within(0, 999) == 2);
  CHECK(within(3, 1000) == 1);
  CHECK(within(4, 1000) == 1);
  CHECK(within(5, 1000) == 1);
  CHECK(within(6, 1000) == 0);
  CHECK(within(0, 1'000'000) == 6);
}
