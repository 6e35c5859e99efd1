// How a report is shown: every line of the table, the numbers of the charts, and times and steps in words.
#include <doctest/doctest.h>

#include <cmath>
#include <regex>
#include <string>
#include <vector>

#include "tools/latency/charts.h"
#include "tools/latency/compare.h"
#include "tools/latency/quantity.h"
#include "tools/latency/search.h"
#include "tools/latency/show.h"

namespace contorno::latency {
namespace {

using doctest::Approx;

/// A report of which every part is there.
LatencyReport full_report() {
  LatencyReport report;
  report.settings = {.rate = 25,
                     .duration_s = 90,
                     .warm_up_s = 0.5,
                     .cameras = 2,
                     .repeats = 3,
                     .probe_every = 10,
                     .deadline_ms = 100,
                     .held_frames = 40,
                     .source = "a.avi",
                     .backend = "cpu",
                     .backend_reason = "no device",
                     .on_full = "drop",
                     .graph_file = "line.yaml",
                     .graph_text = "stages: [x]\nend",
                     .threads = 2,
                     .slots = 4};
  report.environment = {{"processor", "a processor"}, {"system", "a system"}, {"device", "a device"}};
  report.frames = {.offered = 1010,
                   .delivered = 1000,
                   .failed = 2,
                   .in_flight = 1,
                   .ring_full = 4,
                   .dropped_deadline = 1,
                   .not_sent = 2,
                   .late = 3,
                   .longest_run = 5,
                   .probed = 100};
  report.first_frame_ms = 123.456;
  std::vector<std::int64_t> whole(997, 10'000'000);
  whole.insert(whole.end(), 3, 1'234'000'000);
  report.rows = {
      {RowKind::EndToEnd, Distribution(kDueToResult, whole)},
      {RowKind::Wait, Distribution("queue", std::vector<std::int64_t>(100, 4'900))},
      {RowKind::Transfer, Distribution("upload", std::vector<std::int64_t>(100, 5'000))},
      {RowKind::Stage, Distribution("overlay", std::vector<std::int64_t>(100, 9'876'000))},
      {RowKind::Interval, Distribution("between results", std::vector<std::int64_t>(999, 40'000'000))}};
  report.worst = {
      {.camera = 2,
       .frame = 7,
       .due_s = 0.25,
       .total_ms = 1234,
       .probed = false,
       .parts_ms = {{"launch to result", 1200}, {"queue", 30}, {"timer and source", 4}, {"x", 0.1}},
       .trace = {{"launch to result", 34, 1200}}},
      {.camera = 1, .frame = 12, .due_s = 3, .total_ms = 99.5, .parts_ms = {{"overlay", 0.004}}}};
  report.worst_probed = {
      {.camera = 1, .frame = 20, .due_s = 5, .total_ms = 12, .parts_ms = {{"upload", 2}, {"overlay", 10}}}};
  report.missing_frames = {3, 14, 15};
  report.series = {{.begin_s = 0, .median_ms = 10, .max_ms = 20, .delivered = 600, .missed = 0},
                   {.begin_s = 45, .median_ms = 12, .max_ms = 1234, .delivered = 400, .missed = 9}};
  report.repeats = {{.p50_ms = 10, .p99_ms = 11, .max_ms = 20, .knows_p99 = true},
                    {.p50_ms = 9, .p99_ms = 13, .max_ms = 1234, .knows_p99 = true},
                    {.p50_ms = 12, .p99_ms = 12, .max_ms = 30, .knows_p99 = true}};
  report.trials = {{.rate = 200, .cameras = 1, .offered = 400, .misses = 8, .p50_ms = 5, .max_ms = 150},
                   {.rate = 100, .cameras = 1, .offered = 200, .p50_ms = 4.5, .max_ms = 20, .held = true}};
  report.resources = {.wall_s = 90,
                      .cpu_s = 45,
                      .heap_growth_bytes = -2048,
                      .minor_faults = 12,
                      .major_faults = 3,
                      .involuntary_switches = 77,
                      .resident_begin_bytes = 10240,
                      .resident_end_bytes = 11264};
  report.memory = {.slots = 8, .host = 3 << 20, .pinned = 1 << 19, .device = 5 << 20};
  report.probe_cost = {.rounds = 5,
                       .without_ms = 10,
                       .with_ms = 10.5,
                       .least_percent = 4,
                       .median_percent = 5,
                       .most_percent = 7,
                       .every = 10};
  report.allocations = {.frames = 15, .count = 2};
  report.merged = 2;
  return report;
}

Judgement judgement_of(const LatencyReport&) {
  return {.verdict = {Verdict::State::Fail, "the sentence"},
          .assertions = {{Assertion::State::Held, "p50<20ms: 10 ms"},
                         {Assertion::State::Failed, "late<1: 3"},
                         {Assertion::State::TooFew, "p99.99<1s: n/a"}}};
}

/// The numbers that stand in `text` wherever `pattern` matches, one list for each of its groups.
std::vector<std::vector<double>> numbers_of(const std::string& text, const std::string& pattern) {
  const std::regex wanted(pattern);
  std::vector<std::vector<double>> all(wanted.mark_count());
  for (auto match = std::sregex_iterator(text.begin(), text.end(), wanted); match != std::sregex_iterator();
       ++match)
    for (std::size_t group = 0; group < all.size(); ++group)
      all[group].push_back(std::stod((*match)[group + 1].str()));
  return all;
}

bool near(const std::vector<double>& found, const std::vector<double>& wanted) {
  CAPTURE(found.size());
  if (found.size() != wanted.size()) return false;
  for (std::size_t i = 0; i < found.size(); ++i)
    if (std::abs(found[i] - wanted[i]) > 0.051) {
      MESSAGE("number ", i, " is ", found[i], ", wanted ", wanted[i]);
      return false;
    }
  return true;
}

TEST_CASE("the table says everything that is known, a line a fact") {
  const LatencyReport report = full_report();
  CHECK(
      table_of(report, judgement_of(report)) ==
      "graph     line.yaml\n"
      "load      2 cameras at once, each: open loop, fixed arrivals, 25 frames/s for 90 s after a warm-up "
      "of 500 ms and at least 30 frames, which is left out; 3 times\n"
      "input     a.avi; 40 frames of it, held in memory, in turn\n"
      "backend   cpu, 2 threads, 4 slots, on_full drop; no device\n"
      "machine   a processor\n"
      "machine   a device\n"
      "merged    from 2 reports\n"
      "search          200 frames/s x 1       400 frames,      8 missed, p50    5.000 ms, max  150.000 ms: "
      "not "
      "held\n"
      "                100 frames/s x 1       200 frames,      0 missed, p50    4.500 ms, max   20.000 ms: "
      "held\n"
      "frames    1010 offered = 1000 delivered + 7 dropped (4 no free slot, 1 past the graph's deadline, 2 "
      "that "
      "the source owed) + 2 failed + 1 in flight\n"
      "misses    11881 per million, 12 of 1010 frames, longest run 5; without result: #3 #14 #15 ...\n"
      "first     frame after 123.5 ms (warm-up)\n"
      "probed    the parts of 100 of 1000 frames were timed, of those whose number is a multiple of 10\n"
      "latency   ms                            min     mean      p50      p90      p99    p99.9   p99.99     "
      " "
      "max   jitter\n"
      "          due to result               10.00    13.67    10.00    10.00    10.00      n/a      n/a     "
      "1234 "
      "   66.94\n"
      "            without result = inf      10.00    13.67    10.00    10.00     1234      n/a      n/a     "
      " "
      "inf "
      "   66.94\n"
      "            upload                    0.005    0.005    0.005    0.005      n/a      n/a      n/a    "
      "0.005 "
      "   0.000\n"
      "            overlay                   9.876    9.876    9.876    9.876      n/a      n/a      n/a    "
      "9.876 "
      "   0.000\n"
      "          between results             40.00    40.00    40.00    40.00      n/a      n/a      n/a    "
      "40.00 "
      "   0.000\n"
      "          n/a: p99 needs 1000 frames, p99.9 needs 10000 frames, p99.99 needs 100000 frames, have "
      "1010, of "
      "parts 100\n"
      "interval  p50 between 10 and 10 ms, p99 between 10 and 1234 ms (95 % confidence, as if frames were "
      "independent)\n"
      "repeats   3: p50 9 to 12 ms, p99 11 to 13 ms, max 20 to 1234 ms\n"
      "worst     camera 2 #7       1234.000 ms, due at 0.250 s: launch to result 1200, queue 30, timer and "
      "source 4 (not probed)\n"
      "          camera 1 #12        99.500 ms, due at 3.000 s: \n"
      "of probed camera 1 #20        12.000 ms, due at 5.000 s: overlay 10, upload 2\n"
      "memory    8 slots: 3.0 MiB host, 0.5 MiB pinned, 5.0 MiB device\n"
      "used      50.0 % of one processor, 44.554 ms a frame; heap -2.0 KiB, resident +1.0 KiB, page faults "
      "12 + 3 "
      "from disk, 77 forced switches\n"
      "allocated 2 times by 15 frames one at a time, from the source to the result\n"
      "probes    +0.50 % of a frame on average, as one in 10 is probed; all probed: +5.00 % of a frame "
      "(+4.00 to "
      "+7.00 % in 5 rounds), +0.500 % of the deadline: p50 10.5 ms with, 10 ms without\n"
      "assert    held: p50<20ms: 10 ms\n"
      "assert    failed: late<1: 3\n"
      "assert    too few frames: p99.99<1s: n/a\n"
      "RESULT    FAIL  the sentence\n");
}

TEST_CASE("what is not known, or is as always, has no line in the table") {
  LatencyReport report;
  report.settings = {.loop = Loop::Closed, .backend = "cpu", .on_full = "wait"};
  report.frames = {.offered = 3, .delivered = 3, .probed = 3};
  report.rows = {{RowKind::EndToEnd, Distribution(kDueToResult, {1'000, 2'000, 3'000})}};
  CHECK(
      table_of(report, {.verdict = {Verdict::State::None, "a sentence"}, .assertions = {}}) ==
      "load      closed loop, one frame at a time, as fast as it goes for 0 ns after a warm-up of 0 ns and "
      "at "
      "least 30 frames, which is left out\n"
      "input     ; read when needed\n"
      "backend   cpu, 0 threads, 0 slots, on_full wait\n"
      "frames    3 offered = 3 delivered + 0 dropped + 0 failed + 0 in flight\n"
      "misses    0 per million, 0 of 3 frames\n"
      "latency   ms                            min     mean      p50      p90      p99    p99.9   p99.99   "
      "   "
      "max   jitter\n"
      "          due to result               0.001    0.002    0.002      n/a      n/a      n/a      n/a    "
      "0.003 "
      "   0.001\n"
      "          n/a: p90 needs 100 frames, p99 needs 1000 frames, p99.9 needs 10000 frames, p99.99 needs "
      "100000 "
      "frames, have 3\n"
      "interval  p50 between 0 and any time (95 % confidence, as if frames were independent)\n"
      "used      0.0 % of one processor, 0.000 ms a frame; heap +0.0 KiB, resident +0.0 KiB, page faults 0 "
      "+ 0 "
      "from disk, 0 forced switches\n"
      "RESULT    a sentence\n");
  CHECK(latency_rows(LatencyReport()) == "latency   no frame has a result\n");
  report.settings.mode = Mode::Pipeline;
  report.settings.graph_text = "a ! b";
  report.settings.rate = 30;
  report.settings.duration_s = 3600;
  report.frames.ring_full = 2;
  const std::string table = table_of(report, {});
  CHECK(table.starts_with(
      "pipeline  a ! b\n"
      "load      as fast as the pipeline takes them: frames, 30 a second on average, for 3600 s "
      "after a warm-up of 0 ns, which is left out\n"));
  CHECK(table.find("2 dropped (2 left out on the way)") != std::string::npos);
}

TEST_CASE("durations are shown in the largest unit that they fill, and read in all of them") {
  for (const auto& [nanoseconds, text] : std::vector<std::pair<double, const char*>>{{0, "0 ns"},
                                                                                     {999, "999 ns"},
                                                                                     {1000, "1 us"},
                                                                                     {999'000, "999 us"},
                                                                                     {1e6, "1 ms"},
                                                                                     {1.5e9, "1.5 s"},
                                                                                     {90e9, "90 s"},
                                                                                     {3600e9, "3600 s"}})
    CHECK(duration_text(nanoseconds) == text);
  for (const auto& [text, nanoseconds] :
       std::vector<std::pair<const char*, double>>{{"7ns", 7},
                                                   {"7us", 7e3},
                                                   {"7ms", 7e6},
                                                   {"7 s", 7e9},
                                                   {"7min", 420e9},
                                                   {"7h", 7 * 3600e9},
                                                   {"0s", 0},
                                                   {"8760h", 8760 * 3600e9}})
    CHECK(nanoseconds_from(text) == nanoseconds);
  CHECK(!nanoseconds_from("8760.1h"));
}

TEST_CASE("steps between ticks are 1, 2 or 5 times a power of ten") {
  for (const auto& [most, count, step] : std::vector<std::tuple<double, int, double>>{{10, 10, 1},
                                                                                      {10, 8, 2},
                                                                                      {10, 5, 2},
                                                                                      {10, 4, 5},
                                                                                      {10, 3, 5},
                                                                                      {10, 2, 5},
                                                                                      {11, 2, 10},
                                                                                      {0.08, 8, 0.01},
                                                                                      {4900, 5, 1000}})
    CHECK(tick_step(most, count) == Approx(step));
}

TEST_CASE("the histogram has a bar where there are frames, as high as the root of their number") {
  LatencyReport report = full_report();
  std::vector<std::int64_t> samples(900, 10'000'000);
  samples.insert(samples.end(), 100, 40'000'000);
  report.rows = {{RowKind::EndToEnd, Distribution(kDueToResult, samples)}};
  report.settings.deadline_ms = 20;
  // 780 px are 40.8 ms, cut into 80 bars; 192 px are the root of 900.
  const std::string chart = histogram_chart(report);
  const auto bars = numbers_of(
      chart,
      R"re(class="bar" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"><title>(\d+) frames up to ([\d.]+))re");
  CHECK(near(bars[0], {64 + 780 * 19 / 80.0, 64 + 780 * 78 / 80.0}));
  CHECK(near(bars[1], {14, 14 + 192 * (1 - 10 / 30.0)}));
  CHECK(near(bars[2], {780 / 80.0 - 1, 780 / 80.0 - 1}));
  CHECK(near(bars[3], {192, 64}));
  CHECK(near(bars[4], {900, 100}));
  CHECK(near(bars[5], {40.8 * 20 / 80, 40.8 * 79 / 80}));
  CHECK(near(numbers_of(chart, R"re(class="deadline" d="M([\d.]+) 14V206)re")[0], {64 + 780 * 20 / 40.8}));
  CHECK(near(numbers_of(chart, R"re(text-anchor="middle">([\d.]+)<)re")[0], {0, 10, 20, 30, 40}));
  CHECK(near(numbers_of(chart, R"re(x="([\d.]+)" y="220" text-anchor="middle")re")[0],
             {64, 64 + 780 * 10 / 40.8, 64 + 780 * 20 / 40.8, 64 + 780 * 30 / 40.8, 64 + 780 * 40 / 40.8}));
  CHECK(near(numbers_of(chart, R"re(class="grid" d="M64 ([\d.]+)H844)re")[0],
             {206, 206 - 192 / 3.0, 206 - 192 * 2 / 3.0, 14}));
  CHECK(near(numbers_of(chart, R"re(x="58" y="([\d.]+)" text-anchor="end">([\d.]+))re")[1], {0, 10, 20, 30}));
  report.settings.deadline_ms = 41;
  CHECK(histogram_chart(report).find("deadline") == std::string::npos);
  report.rows.clear();
  CHECK(histogram_chart(report) == "<p>No frame has a result.</p>");
  CHECK(percentile_chart(report) == "<p>No frame has a result.</p>");
}

TEST_CASE("the percentiles are drawn over the number of nines") {
  LatencyReport report = full_report();
  std::vector<std::int64_t> samples(900, 10'000'000);
  samples.insert(samples.end(), 100, 40'000'000);
  report.rows = {{RowKind::EndToEnd, Distribution(kDueToResult, samples)}};
  report.settings.deadline_ms = 20;
  const std::string chart = percentile_chart(report);
  // 1,000 frames are three nines; 42 ms are 192 px.
  CHECK(near(numbers_of(chart, R"re(x="([\d.]+)" y="220" text-anchor="middle">)re")[0],
             {64, 64 + 260 * std::log10(2.0), 64 + 260, 64 + 520, 844}));
  CHECK(near(numbers_of(chart, R"re(text-anchor="middle">p([\d.]+)<)re")[0], {50, 90, 99, 99.9}));
  const auto path = numbers_of(chart, R"re([ML]([\d.]+) ([\d.]+)(?=[L"]))re");
  REQUIRE(path[0].size() == 3);
  CHECK(near(path[0], {64, 64 + 260, 844}));
  CHECK(path[1][0] == Approx(206 - 192 * 10 / 42.0).epsilon(0.01));
  CHECK(path[1][1] == Approx(206 - 192 * 40 / 42.0).epsilon(0.01));
  CHECK(path[1][2] == Approx(206 - 192 * 40 / 42.0).epsilon(0.01));
  CHECK(near(numbers_of(chart, R"re(class="deadline" d="M64 ([\d.]+)H844)re")[0], {206 - 192 * 20 / 42.0}));
  // Of few frames one nine is shown.
  report.rows = {{RowKind::EndToEnd, Distribution(kDueToResult, {10'000'000, 20'000'000})}};
  CHECK(near(numbers_of(percentile_chart(report), R"re(text-anchor="middle">p([\d.]+)<)re")[0], {50, 90}));
}

TEST_CASE("the time axis has a dot for the slowest frame of a bin, and a line where frames are missing") {
  LatencyReport report = full_report();
  report.series = {{.begin_s = 0, .median_ms = 10, .max_ms = 20, .delivered = 600},
                   {.begin_s = 10, .median_ms = 0, .max_ms = 0, .delivered = 0, .missed = 2},
                   {.begin_s = 20, .median_ms = 5, .max_ms = 25, .delivered = 400, .missed = 9}};
  report.settings.deadline_ms = 27;
  const std::string chart = series_chart(report);
  // 780 px are 30 s, and 192 px 27 ms.
  const auto dots =
      numbers_of(chart, R"re(<circle class="most" cx="([\d.]+)" cy="([\d.]+)" r="2"><title>at ([\d.]+) s)re");
  CHECK(near(dots[0], {64 + 780 * 5 / 30.0, 64 + 780 * 25 / 30.0}));
  CHECK(near(dots[1], {206 - 192 * 20 / 27.0, 206 - 192 * 25 / 27.0}));
  CHECK(near(dots[2], {0, 20}));
  const auto missed = numbers_of(chart, R"re(class="missed" d="M([\d.]+) 14V206"><title>(\d+) frames)re");
  CHECK(near(missed[0], {64 + 780 * 15 / 30.0, 64 + 780 * 25 / 30.0}));
  CHECK(near(missed[1], {2, 9}));
  const auto line = numbers_of(chart, R"re([ML]([\d.]+) ([\d.]+)(?=[L"]))re");
  CHECK(near(line[0], {64 + 780 * 5 / 30.0, 64 + 780 * 25 / 30.0}));
  CHECK(near(line[1], {206 - 192 * 10 / 27.0, 206 - 192 * 5 / 27.0}));
  CHECK(near(numbers_of(chart, R"re(class="deadline" d="M64 ([\d.]+)H844)re")[0], {14}));
  report.series = {{.begin_s = 0, .median_ms = 10, .max_ms = 20, .delivered = 600}};
  CHECK(near(numbers_of(series_chart(report), R"re(cx="([\d.]+)")re")[0], {64 + 780 / 2.0}));  // of 1 s
}

TEST_CASE("the bars of the parts begin where the one before ends, all on one scale") {
  LatencyReport report = full_report();
  report.settings.until = Until::Result;
  const std::string chart = parts_chart(report);
  // 634 px are the longest, of 1,234.1 ms; the medians first, then the slowest frames and those of the
  // probed.
  const auto bars = numbers_of(chart, R"re(<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="18")re");
  const double scale = 634 / 1234.1;
  REQUIRE(bars[0].size() == 3 + 4 + 1 + 2);
  CHECK(near(bars[1], {0, 0, 0, 26, 26, 26, 26, 52, 78, 78}));
  CHECK(bars[0][3] == Approx(136));
  CHECK(bars[0][4] == Approx(136 + 1200 * scale).epsilon(1e-4));
  CHECK(bars[0][5] == Approx(136 + 1230 * scale).epsilon(1e-4));
  CHECK(bars[2][3] == Approx(1200 * scale).epsilon(1e-4));
  CHECK(bars[2][9] == Approx(10 * scale).epsilon(1e-3));
  // What a part is below 0 the next one is shorter.
  report.worst = {{.frame = 1, .total_ms = 10, .parts_ms = {{"upload", -2}, {"overlay", 12}}}};
  report.worst_probed.clear();
  const auto less =
      numbers_of(parts_chart(report), R"re(<rect x="([\d.]+)" y="26" width="([\d.]+)" height="18")re");
  CHECK(near(less[0], {136, 136}));
  CHECK(near(less[1], {0, 634 * 10 / 12.0}));
  // Four names a row, each with its colour.
  const auto keys = numbers_of(chart, R"re(<rect x="(\d+)" y="(\d+)" width="12" height="12")re");
  CHECK(near(keys[0], {8, 218, 428, 638, 8, 218}));
  CHECK(near(keys[1], {108, 108, 108, 108, 128, 128}));
  CHECK(chart.find("viewBox=\"0 0 860 152\"") != std::string::npos);
  CHECK(std::string(colour_of_part(report, "queue")) != colour_of_part(report, "upload"));
  CHECK(std::string(colour_of_part(report, "queue")) == "#2a6f97");
  CHECK(std::string(colour_of_part(report, "overlay")) == "#588157");
  CHECK(label_of(report, report.worst[0]) == "cam 1 #1");
  report.settings.cameras = 1;
  CHECK(label_of(report, report.worst[0]) == "#1");
}

TEST_CASE("the slowest frames are drawn part by part, from when each was due") {
  LatencyReport report = full_report();
  report.settings.deadline_ms = 50;
  const std::vector<WorstFrame> frames{
      {.camera = 1,
       .frame = 7,
       .due_s = 0.25,
       .total_ms = 80,
       .trace = {{"queue", -1, 20}, {"upload", 20, 0.0049}, {"overlay", 40, 40}, {"sink a", 80, 20}}},
      {.camera = 1, .frame = 8, .total_ms = 10, .trace = {}}};
  const std::string charts = timeline_charts(report, frames);
  // 616 px are 100 ms, the end of the sink.
  const auto spans = numbers_of(
      charts,
      R"re(<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="14" fill="[^"]+"><title>[^:]+: ([\d.]+) ms)re");
  CHECK(near(spans[0], {170, 170 + 616 * 0.4, 170 + 616 * 0.8}));
  CHECK(near(spans[1], {1, 18, 35}));
  CHECK(near(spans[2], {616 * 0.19, 616 * 0.4, 616 * 0.2}));
  CHECK(near(spans[3], {20, 40, 20}));
  CHECK(near(numbers_of(charts, R"re(class="deadline" d="M([\d.]+) 0V(\d+))re")[0], {170 + 616 * 0.5}));
  CHECK(near(numbers_of(charts, R"re(class="deadline" d="M([\d.]+) 0V(\d+))re")[1], {51}));
  CHECK(
      near(numbers_of(charts, R"re(text-anchor="middle">([\d.]+)(?: ms)?<)re")[0], {0, 20, 40, 60, 80, 100}));
  CHECK(charts.find("<summary>cam 1 #7: 80 ms, due at 0.250 s</summary>") != std::string::npos);
  CHECK(charts.find("cam 1 #8") == std::string::npos);
  report.settings.deadline_ms = 101;
  CHECK(timeline_charts(report, frames).find("deadline") == std::string::npos);
  // Five are unfolded.
  const std::string seven = timeline_charts(report, std::vector<WorstFrame>(7, frames[0]));
  CHECK(numbers_of(seven, R"re(<details open><summary>cam (\d))re")[0].size() == 5);
  CHECK(numbers_of(seven, R"re(<details><summary>cam (\d))re")[0].size() == 2);
}

TEST_CASE("the page has the figures of the table") {
  const LatencyReport report = full_report();
  const std::string page = html_of(report, judgement_of(report));
  for (const std::string text :
       {"<h1>Latency of line.yaml</h1>", "<p class=\"result FAIL\"><strong>FAIL</strong> the sentence</p>",
        "<p class=\"result PASS\"><strong>held</strong> p50&lt;20ms: 10 ms</p>",
        "<p class=\"result FAIL\"><strong>failed</strong> late&lt;1: 3</p>",
        "<p class=\"result FAIL\"><strong>too few frames</strong> p99.99&lt;1s: n/a</p>",
        "<p>1010 frames offered = 1000 delivered + 7 dropped (4 no free slot, 1 past the graph's deadline, 2 "
        "that "
        "the source owed) + 2 failed + 1 in flight; 3 late; 11881 misses per million, longest run 5.</p>",
        "<tr><td>due to result</td><td>10</td><td>13.67</td><td>10</td><td>10</td><td>10</td>"
        "<td title=\"needs 10000 frames, have 1000\">n/a</td>",
        "<tr><td>due to result, without result infinite</td><td>10</td><td>13.67</td><td>10</td><td>10</td>"
        "<td>1234</td><td title=\"needs 10000 frames, have 1009\">n/a</td>",
        "<td>infinite</td><td>66.94</td></tr>",
        "<tr><td>200</td><td>1</td><td>400</td><td>8</td><td>5</td><td>150</td><td>no</td></tr>",
        "<tr><td>100</td><td>1</td><td>200</td><td>0</td><td>4.5</td><td>20</td><td>yes</td></tr>",
        "<tr><td>source</td><td>a.avi; 40 frames of it, held in memory</td></tr>",
        "<tr><td>backend</td><td>cpu, 2 threads, 4 slots, on_full drop</td></tr>",
        "<tr><td>why this backend</td><td>no device</td></tr>", "<tr><td>system</td><td>a system</td></tr>",
        "<h2>The slowest frames</h2>", "<h2>The search</h2>", "<pre>stages: [x]\nend\n</pre>"})
    CHECK_MESSAGE(page.find(text) != std::string::npos, text);
  CHECK(page.find("The slowest probed frames") == std::string::npos);  // they have no trace
  LatencyReport less = report;
  less.trials.clear();
  less.settings.backend.clear();
  less.settings.held_frames = 0;
  less.worst.clear();
  less.frames.ring_full = less.frames.dropped_deadline = less.frames.not_sent = less.frames.failed = 0;
  const std::string shorter =
      html_of(less, {.verdict = {Verdict::State::None, "a sentence"}, .assertions = {}});
  for (const std::string text :
       {"The search", "<td>backend</td>", "held in memory", "The slowest frames", "infinite<"})
    CHECK_MESSAGE(shorter.find(text) == std::string::npos, text);
  CHECK(shorter.find("<p class=\"result NONE\"><strong></strong> a sentence</p>") != std::string::npos);
}

TEST_CASE("a search for a rate begins at what one frame after the other gives, and ends at its limits") {
  CHECK(first_rate(10, 1) == Approx(100));
  CHECK(first_rate(10, 4) == Approx(25));
  CHECK(first_rate(0, 4) == Approx(10));
  CHECK(first_rate(1e9, 1) == Approx(0.1));
  CHECK(first_rate(1e-9, 1) == Approx(100'000));
  const auto tried = [](double first, double most) {
    std::vector<double> rates;
    step_to_rate(
        first,
        [&](double rate) {
          rates.push_back(rate);
          return rate <= most;
        },
        [&] { return rates.size() < 40; });
    return rates;
  };
  // Doubled while it holds, then the middle of factors, to within 2 %.
  const std::vector<double> rates = tried(10, 33);
  REQUIRE(rates.size() == 9);
  CHECK(near({rates.begin(), rates.begin() + 5},
             {10, 20, 40, std::sqrt(800.0), std::sqrt(std::sqrt(800.0) * 40)}));
  // Never held: 32 times lower it gives up.
  CHECK(near(tried(64, 0), {64, 32, 16, 8, 4, 2, 1}));
  // Always held: up to the highest rate.
  CHECK(near(tried(30'000, 1e9), {30'000, 60'000, 100'000}));
}

}  // namespace
}  // namespace contorno::latency
