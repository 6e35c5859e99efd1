// Teams of a device, run on the host by the emulator, against one thread of the host: the same bits from the
// same text. Needs no device.
#define CONTORNO_EMULATE "tests/gpu/emulator.h"
#include <doctest/doctest.h>

#include "geometry/box.h"
#include "tests/stages/contour_prep/emulated_teams.h"
#include "tests/stages/contour_prep/reference.h"

using namespace contorno;
using namespace contorno::test;

namespace {

struct LaneSum {
  double value = 0;
  void add(const LaneSum& other) { value += other.value; }
};

/// What a team finds of one contour.
struct TeamFound {
  double sum = -1;
  std::uint64_t joined = 0, counted = 0, scanned = 0, of_room = 0;
  Box box;
  bool operator==(const TeamFound& other) const {
    return sum == other.sum && joined == other.joined && counted == other.counted &&
           scanned == other.scanned && of_room == other.of_room && box.top == other.box.top &&
           box.left == other.box.left && box.bottom == other.box.bottom && box.right == other.box.right;
  }
};

constexpr std::uint64_t kRoomNumbers = 16;

/// Calls all that a team has.
template <unsigned kFew, unsigned kMany, unsigned kLongFrom>
struct CallAll {
  static constexpr ContourTeams kTeams{.few = kFew, .many = kMany, .long_from = kLongFrom};
  static constexpr std::size_t kRoom = kRoomNumbers * sizeof(std::uint64_t);
  ContoursView in;
  TeamFound* found;
  std::uint64_t* numbers;    ///< a point
  std::uint64_t* elsewhere;  ///< kRoomNumbers + 1 a contour
  unsigned* mistakes;        ///< number of wrong results of single threads

  template <class Team>
  void operator()(const Team& team, std::uint32_t contour) const {
    const Point* const points = in.points + in.offsets[contour];
    const std::uint32_t count = in.offsets[contour + 1] - in.offsets[contour];
    std::uint64_t* const mine = numbers + in.offsets[contour];
    TeamFound all;
    all.box = box_of(team, in, contour);
    all.sum = team.template sum<LaneSum>(count,
                                         [=](LaneSum& lane, std::uint64_t i) {
                                           lane.value += static_cast<double>(points[i].row) / 3;
                                         })
                  .value;
    all.joined =
        team.template join<WholeSum>(count, [](WholeSum& sum, std::uint64_t i) { sum.value += i * i; }).value;
    all.scanned = team.scan(
        count, [](std::uint64_t i) { return i % 5; },
        [=](std::uint64_t i, std::uint64_t before) { mine[i] = before; });
    // What others have written.
    all.counted = team.count(count, [=](std::uint64_t i) { return mine[(i + 37) % count] % 3 == 1; });
    std::uint64_t *const others = elsewhere + contour * (kRoomNumbers + 1), *const room = team.room(
                                                                                kRoomNumbers, others);
    if constexpr (std::is_same_v<Team, BlockTeam>)
      *mistakes += (room == others ? 1 : 0) + (team.room(kRoomNumbers + 1, others) == others ? 0 : 1);
    team.each(kRoomNumbers, [=](std::uint64_t i) { room[i] = i + contour; });
    all.of_room = room[(contour + 3) % kRoomNumbers];
    team.synchronise();
    if (team.is_first()) found[contour] = all;
    team.synchronise();
    *mistakes += found[contour] == all ? 0 : 1;  // every thread has the same result
  }
};

template <unsigned kFew, unsigned kMany, unsigned kLongFrom>
void check_teams(const ContoursView& in) {
  const std::size_t contours = in.format.contour_capacity, points = in.format.point_capacity;
  std::vector<TeamFound> wanted(contours), found(contours);
  std::vector<std::uint64_t> sums(points, 77), made(points, 77), room(contours * (kRoomNumbers + 1), 77);
  unsigned mistakes = 0;
  const CallAll<kFew, kMany, kLongFrom> one{in, wanted.data(), sums.data(), room.data(), &mistakes};
  for (std::uint32_t i = 0; i < in.counts->contours; ++i) one(OneThread{}, i);
  run_teams(in, CallAll<kFew, kMany, kLongFrom>{in, found.data(), made.data(), room.data(), &mistakes});
  CHECK(mistakes == 0);
  CHECK(found == wanted);
  CHECK(made == sums);
}

}  // namespace

TEST_CASE("teams of any size find what one thread finds, bit for bit") {
  Random random(71);
  std::vector<TestContour> contours;
  for (const int points : {0, 1, 2, 31, 32, 33, 64, 100, 127, 128, 129, 300, 1000}) {
    TestContour& one = contours.emplace_back();
    for (int i = 0; i < points; ++i) one.points.emplace_back(60 * random.unit(), 60 * random.unit());
  }
  // More than all blocks look at in one turn.
  for (int i = 0; i < 150; ++i) contours.push_back({.points = {{60 * random.unit(), 60 * random.unit()}}});
  const TestContours in(64, 64, 1, contours);
  check_teams<32, 32, ContourTeams::kNever>(in.view);
  check_teams<32, 256, 100>(in.view);
  check_teams<64, 1024, 128>(in.view);
}

TEST_CASE("teams are not called for contours that did not fit") {
  TestContours in(64, 64, 1, exact_contours(3, 1, 5));
  in.view.counts->points = in.format.point_capacity + 1;
  std::vector<TeamFound> found(in.format.contour_capacity);
  run_teams(in.view, CallAll<32, 64, 8>{in.view, found.data(), nullptr, nullptr, nullptr});
  for (const TeamFound& one : found) CHECK(one.sum == -1);
}
