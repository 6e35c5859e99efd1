// contorno_bench [PART | --trace FILE]: `contorno bench` as a program of its own, for machines without
// GStreamer.
#include <string_view>

#include "base/error.h"
#include "tools/bench/bench.h"
#include "tools/say.h"

int main(int argc, char** argv) {
  contorno::fill_standard_streams();
  try {
    if (argc == 3 && std::string_view(argv[1]) == "--trace")
      contorno::bench_trace(argv[2]);
    else
      contorno::bench(argc > 1 ? argv[1] : "all");
    contorno::finish_output();
    return 0;
  } catch (const contorno::Error& error) {
    contorno::say(error.what());
    return static_cast<int>(error.code());
  }
}
