#include "cuda/near_device.h"

#include <doctest/doctest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

using namespace contorno;

namespace {

/// A folder that looks like /sys of a machine with two nodes, on the second of which the device is.
class PlayedSys {
 public:
  PlayedSys() {
    write("bus/pci/devices/0000:1b:00.0/numa_node", "1\n");
    write("bus/pci/devices/0000:1c:00.0/numa_node", "-1\n");
    write("devices/system/node/node1/cpulist", "4-6,9,12-12\n");
  }
  void write(const std::string& file, const std::string& text) {
    const std::filesystem::path path = folder_.path() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::string path() const { return folder_.path().string(); }

 private:
  TemporaryFolder folder_;
};

cpu_set_t own_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  REQUIRE(::sched_getaffinity(0, sizeof set, &set) == 0);
  return set;
}

}  // namespace

TEST_CASE("the processors near a device are those of its node, and none where the system knows no node") {
  PlayedSys sys;
  CHECK(processors_near(sys.path(), "0000:1b:00.0") == std::vector<int>{4, 5, 6, 9, 12});
  CHECK(processors_near(sys.path(), "0000:1c:00.0").empty());
  CHECK(processors_near(sys.path(), "0000:ff:00.0").empty());
  CHECK(processors_near(sys.path(), "").empty());
  sys.write("devices/system/node/node1/cpulist", "\n");
  CHECK(processors_near(sys.path(), "0000:1b:00.0").empty());
  sys.write("devices/system/node/node1/cpulist", "0-99999999\n");
  CHECK(processors_near(sys.path(), "0000:1b:00.0").size() == CPU_SETSIZE);
}

TEST_CASE("a thread is near a device for a while, never where it may not run, and then where it was") {
  const cpu_set_t before = own_processors();
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  {
    const NearProcessors near({first, -1, CPU_SETSIZE});
    const cpu_set_t now = own_processors();
    CHECK(CPU_COUNT(&now) == 1);
    CHECK(CPU_ISSET(first, &now));
    // Only where it may run at this time.
    int other = 0;
    while (other < CPU_SETSIZE && (other == first || !CPU_ISSET(other, &before))) ++other;
    const NearProcessors nowhere({other});
    const cpu_set_t same = own_processors();
    CHECK(CPU_EQUAL(&same, &now));
  }
  const NearProcessors none({});
  const cpu_set_t after = own_processors();
  CHECK(CPU_EQUAL(&after, &before));
}
