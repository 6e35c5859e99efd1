// contorno_bench [PART | --trace FILE]: `contorno bench` as a program of its own, for machines without
// GStreamer.
#include <fmt/format.h>

#include <string_view>

#include "cuda/error.h"
#include "tools/bench.h"

int main(int argc, char** argv) {
  try {
    if (argc == 3 && std::string_view(argv[1]) == "--trace")
      contorno::bench_trace(argv[2]);
    else
      contorno::bench(argc > 1 ? argv[1] : "all");
    return 0;
  } catch (const contorno::Error& error) {
    fmt::print(stderr, "contorno_bench: {}\n", error.what());
    return static_cast<int>(error.code());
  }
}
