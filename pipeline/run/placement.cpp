#include "pipeline/run/placement.h"

#include <algorithm>
#include <numeric>

namespace contorno {
namespace {

std::size_t left_in(const DeviceRoom& room) {
  return room.bytes - room.taken;
}

DeviceRoom* best_for(const PlacementNeed& need, std::vector<DeviceRoom>& rooms) {
  DeviceRoom* best = nullptr;
  for (DeviceRoom& room : rooms) {
    if (need.device != BackendRequest::kAll && need.device != room.device) continue;
    if (need.bytes > left_in(room)) continue;
    if (best == nullptr || room.load < best->load ||
        (room.load == best->load && left_in(room) > left_in(*best)))
      best = &room;
  }
  return best;
}

}  // namespace

std::optional<std::size_t> place(std::vector<PlacementNeed>& needs, std::vector<DeviceRoom>& rooms) {
  std::vector<std::size_t> order(needs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
    const bool is_bound = needs[one].device != BackendRequest::kAll;
    const bool other_is_bound = needs[other].device != BackendRequest::kAll;
    return is_bound != other_is_bound ? is_bound : needs[one].load > needs[other].load;
  });
  std::vector<PlacementNeed> placed = needs;
  std::vector<DeviceRoom> filled = rooms;
  for (const std::size_t number : order) {
    PlacementNeed& need = placed[number];
    DeviceRoom* const room = best_for(need, filled);
    if (room == nullptr) return number;
    room->taken += need.bytes, room->load += need.load;
    need.device = room->device;
  }
  needs = std::move(placed), rooms = std::move(filled);
  return std::nullopt;
}

}  // namespace contorno
