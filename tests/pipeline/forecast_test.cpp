#include "pipeline/run/forecast.h"

#include <doctest/doctest.h>

#include <random>

using contorno::ArrivalForecast;

namespace {
constexpr std::int64_t kMs = 1'000'000;
}

TEST_CASE("a forecast needs some intervals first") {
  ArrivalForecast forecast;
  for (int i = 0; i <= ArrivalForecast::kFewest; ++i) {
    CHECK_FALSE(forecast.next());
    forecast.arrived(i * 100 * kMs);
  }
  CHECK(forecast.next());
}

TEST_CASE("frames of a camera come within the window, which is short") {
  ArrivalForecast forecast;
  std::mt19937 random(7);
  std::uniform_int_distribution<std::int64_t> jitter(-200'000, 200'000);
  std::int64_t inside = 0, expected = 0;
  for (std::int64_t i = 0; i < 1000; ++i) {
    const std::int64_t now = 5'000 * kMs + i * 100 * kMs + jitter(random);
    if (const auto window = forecast.next()) {
      ++expected;
      if (window->begin <= now && now <= window->end) ++inside;
      CHECK(window->end - window->begin < 5 * kMs);
    }
    forecast.arrived(now);
  }
  CHECK(expected == 1000 - ArrivalForecast::kFewest - 1);
  CHECK(inside == expected);
}

TEST_CASE("nobody stays awake for frames that come too often or at random") {
  ArrivalForecast often, random_ones;
  std::mt19937 random(8);
  std::exponential_distribution<double> pause(1.0 / (100.0 * kMs));
  std::int64_t now = 0;
  int windows = 0;
  for (std::int64_t i = 0; i < 1000; ++i) {
    often.arrived(i * 2 * kMs);
    CHECK_FALSE(often.next());
    random_ones.arrived(now += static_cast<std::int64_t>(pause(random)));
    if (random_ones.next()) ++windows;
  }
  CHECK(windows < 10);
}

TEST_CASE("whatever has come, windows are at most their part of an interval") {
  ArrivalForecast forecast;
  std::mt19937 random(9);
  std::uniform_int_distribution<std::int64_t> jitter(0, 20 * kMs);
  std::int64_t now = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t pause = 100 * kMs + (i % 100 < 60 ? 0 : jitter(random));
    now += pause;
    forecast.arrived(now);
    if (const auto window = forecast.next()) {
      CHECK(window->begin > now);
      const std::int64_t interval = (window->begin + window->end) / 2 - now;
      CHECK((window->end - window->begin) * ArrivalForecast::kIntervalParts <= interval);
    }
  }
}

TEST_CASE("after a pause, and after a change of rate, the forecast finds its way back") {
  ArrivalForecast forecast;
  std::int64_t now = 0;
  const auto regular = [&](int frames, std::int64_t interval) {
    for (int i = 0; i < frames; ++i) forecast.arrived(now += interval);
    const auto window = forecast.next();
    REQUIRE(window);
    CHECK(window->begin <= now + interval);
    CHECK(window->end >= now + interval);
  };
  regular(20, 100 * kMs);
  forecast.arrived(now += 3'000 * kMs);
  CHECK_FALSE(forecast.next());
  regular(60, 100 * kMs);
  regular(80, 40 * kMs);
}
