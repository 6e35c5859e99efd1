#include "pipeline/run/placement.h"

#include <doctest/doctest.h>

#include <random>
#include <vector>

using namespace contorno;

namespace {

constexpr int kAny = BackendRequest::kAll;

std::vector<int> devices_of(const std::vector<PlacementNeed>& needs) {
  std::vector<int> devices;
  for (const PlacementNeed& need : needs) devices.push_back(need.device);
  return devices;
}

}  // namespace

TEST_CASE("each camera goes to the device with the least load, the greatest loads first") {
  std::vector<DeviceRoom> rooms{{.device = 0, .bytes = 100}, {.device = 1, .bytes = 100}};
  std::vector<PlacementNeed> needs{
      {.bytes = 10, .load = 1}, {.bytes = 10, .load = 1}, {.bytes = 10, .load = 3}, {.bytes = 10, .load = 1}};
  CHECK_FALSE(place(needs, rooms));
  CHECK(devices_of(needs) == std::vector<int>{1, 1, 0, 1});
  CHECK(rooms[0].load == 3);
  CHECK(rooms[1].load == 3);
  CHECK(rooms[0].taken == 10);
  CHECK(rooms[1].taken == 30);
  // One that comes later sees those that are there.
  std::vector<PlacementNeed> late{{.bytes = 10, .load = 1}};
  CHECK_FALSE(place(late, rooms));
  CHECK(late[0].device == 0);  // equal loads, and more room
}

TEST_CASE("a camera goes where it fits, whatever the load, and to the device that it asks for") {
  std::vector<DeviceRoom> rooms{{.device = 3, .bytes = 50}, {.device = 5, .bytes = 200}};
  std::vector<PlacementNeed> needs{{.bytes = 60, .load = 5},
                                   {.bytes = 60, .load = 4},
                                   {.bytes = 30, .load = 9, .device = 5},
                                   {.bytes = 10, .load = 1}};
  CHECK_FALSE(place(needs, rooms));
  CHECK(devices_of(needs) == std::vector<int>{5, 5, 5, 3});
}

TEST_CASE("equal devices are taken in turns, the one with the most free memory first") {
  std::vector<DeviceRoom> rooms{
      {.device = 0, .bytes = 100}, {.device = 1, .bytes = 101}, {.device = 2, .bytes = 100}};
  std::vector<PlacementNeed> needs(6, {.bytes = 1, .load = 1});
  CHECK_FALSE(place(needs, rooms));
  CHECK(devices_of(needs) == std::vector<int>{1, 0, 2, 1, 0, 2});
}

TEST_CASE("what fits nowhere is told, and nothing is taken") {
  std::vector<DeviceRoom> rooms{{.device = 0, .bytes = 100}, {.device = 1, .bytes = 100}};
  std::vector<PlacementNeed> needs{
      {.bytes = 90, .load = 1}, {.bytes = 90, .load = 1}, {.bytes = 11, .load = 0.5}};
  CHECK(place(needs, rooms) == 2);
  CHECK(devices_of(needs) == std::vector<int>{kAny, kAny, kAny});
  CHECK(rooms[0].taken == 0);
  CHECK(rooms[1].load == 0);
  needs = {{.bytes = 1, .load = 1, .device = 7}};
  CHECK(place(needs, rooms) == 0);  // there is no such device
  std::vector<DeviceRoom> none;
  needs = {{.bytes = 0, .load = 1}};
  CHECK(place(needs, none) == 0);
  needs.clear();
  CHECK_FALSE(place(needs, none));
}

TEST_CASE("for any cameras the loads of devices differ by no more than the greatest load, and all fits") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<DeviceRoom> rooms;
    for (int device = 0; device < 1 + static_cast<int>(random() % 4); ++device)
      rooms.push_back({.device = device, .bytes = 1'000'000});
    std::vector<PlacementNeed> needs;
    double greatest = 0;
    for (unsigned i = 0; i < random() % 40; ++i) {
      needs.push_back({.bytes = random() % 1000, .load = 0.1 + static_cast<double>(random() % 50)});
      greatest = std::max(greatest, needs.back().load);
    }
    const std::vector<PlacementNeed> asked = needs;
    REQUIRE_FALSE(place(needs, rooms));
    double most = 0, least = 1e9;
    for (const DeviceRoom& room : rooms) {
      double load = 0;
      std::size_t bytes = 0;
      for (const PlacementNeed& need : needs)
        if (need.device == room.device) load += need.load, bytes += need.bytes;
      CHECK(room.load == doctest::Approx(load));
      CHECK(room.taken == bytes);
      most = std::max(most, room.load), least = std::min(least, room.load);
    }
    CHECK(most - least <= greatest + 1e-9);
    for (std::size_t i = 0; i < needs.size(); ++i) {
      CHECK(needs[i].load == asked[i].load);
      CHECK(needs[i].device >= 0);
    }
  }
}
