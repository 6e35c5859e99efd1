// bench_sources WORK [small] [runs N]: the five sources beside contorno, as lines of JSON. Exit status 1 when
// a baseline has another result than the product.
#include "tools/bench/sources/records.h"

#include <exception>
#include <iostream>
#include <map>
#include <string_view>

#include "cuda/device.h"
#include "tools/bench/conditions.h"

namespace contorno::sources {

void Records::time(const std::string& name, const std::string& variant, const std::vector<double>& seconds,
                   const nlohmann::json& more) {
  nlohmann::json line{{"case", name}, {"variant", variant}, {"seconds", seconds}};
  line.update(more);
  fact("time", std::move(line));
}

void Records::check(const std::string& name, const std::string& variant, bool agrees,
                    const std::string& found) {
  all_agree_ = all_agree_ && agrees;
  fact("check", {{"case", name}, {"variant", variant}, {"agrees", agrees}, {"found", found}});
}

void Records::fact(const std::string& kind, nlohmann::json content) const {
  content["work"] = work_;
  content["kind"] = kind;
  std::cout << content.dump() << std::endl;
}

bool has_device(const Records& records) {
  const DeviceReport& device = device_report();
  if (device.available)
    records.fact("device", {{"name", device.devices[0].name}});
  else
    records.fact("no device", {{"reason", device.reason}});
  return device.available;
}

namespace {

int run(int argc, char** argv) {
  const std::map<std::string, void (*)(Records&, const Options&)> works{
      {"albertini", albertini}, {"della-schiava", della_schiava},
      {"greco", greco},         {"sciarrillo", sciarrillo},
      {"spyrou", spyrou},
  };
  const std::string wanted = argc > 1 ? argv[1] : "";
  Options options;
  bool known = wanted == "all" || works.contains(wanted);
  for (int i = 2; i < argc; ++i) {
    if (std::string_view(argv[i]) == "small")
      options.small = true;
    else if (std::string_view(argv[i]) == "runs" && i + 1 < argc)
      options.runs = std::max(1, std::atoi(argv[++i]));
    else
      known = false;
  }
  if (!known) {
    std::string names = "all";
    for (const auto& [name, work] : works) names += "|" + name;
    std::cerr << "usage: bench_sources " << names << " [small] [runs N]\n";
    return 2;
  }
  bool agree = true;
  for (const auto& [name, work] : works) {
    if (wanted != "all" && wanted != name) continue;
    Records records(name);
    records.fact("conditions", {{"line", conditions_line()}, {"small", options.small}});
    work(records, options);
    agree = agree && records.all_agree();
  }
  return agree ? 0 : 1;
}

}  // namespace
}  // namespace contorno::sources

int main(int argc, char** argv) {
  try {
    return contorno::sources::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "bench_sources: " << error.what() << '\n';
    return 1;
  }
}
