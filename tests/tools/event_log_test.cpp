// The log of a run: its three forms, and one line a second of each kind of event, on a clock of the test.
#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tools/event_log.h"

using namespace contorno;

namespace {

constexpr std::int64_t kLogMillisecond = 1'000'000;

/// A log whose time stands until the test moves it.
struct PlayedLog {
  std::int64_t now = 5'000 * kLogMillisecond;
  std::vector<std::string> lines{};
  EventLog log{{.now_ns = [this] { return now; }, .unix_ms = [this] { return now / kLogMillisecond; }},
               [this](const std::string& line) { lines.push_back(line); }};

  void pass(int milliseconds) {
    now += milliseconds * kLogMillisecond;
    log.look();
  }
  std::vector<std::string> take() { return std::exchange(lines, {}); }
};

LogEvent state(const std::string& camera, const std::string& state) {
  return {.severity = Severity::Warning,
          .camera = camera,
          .name = "state",
          .fields = {{"state", state}},
          .sentence = camera + ": " + state};
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("an event is a sentence, a line of words, or JSON") {
  const LogEvent event{.severity = Severity::Warning,
                       .camera = "north",
                       .name = "route",
                       .fields = {{"route", "redis"}, {"reason", "it said \"no\"\nand C:\\"}, {"empty", ""}},
                       .sentence = "route 'redis': it said \"no\"\nagain"};
  constexpr std::int64_t kWhen = 1'764'417'600'045;
  CHECK(log_line({}, event, 1, kWhen) == "contorno: route 'redis': it said \"no\"\\nagain\n");
  CHECK(log_line({.form = LogForm::Events}, event, 1, kWhen) ==
        "north route route=redis reason=\"it said \\\"no\\\"\\\\nand C:\\\\\" empty=\"\"\n");
  CHECK(log_line({.form = LogForm::Json}, event, 1, kWhen) ==
        R"({"time":"2025-11-29T12:00:00.045Z","severity":"warning","camera":"north","event":"route",)"
        R"("route":"redis","reason":"it said \"no\"\\nand C:\\","empty":"",)"
        R"("message":"route 'redis': it said \"no\"\\nagain"})"
        "\n");
  CHECK(log_line({.has_priorities = true}, event, 3, kWhen) ==
        "<4>contorno: route 'redis': it said \"no\"\\nagain (the last of 3 such events)\n");
  CHECK(log_line({.form = LogForm::Events, .has_priorities = true},
                 {.severity = Severity::Error, .name = "end", .fields = {{"code", "70"}}}, 2,
                 kWhen) == "<3>- end code=70 repeated=2\n");
}

TEST_CASE("what is quoted in the log forges no line, no colour and shows no password") {
  const LogEvent event{.camera = "north",
                       .name = "absent",
                       .fields = {{"reason", "rtsp://u:secret@h/ \x1B[31m\xFF \u202E"}},
                       .sentence = "north: rtsp://u:secret@h/ \x1B[31m\xFF \u202E"};
  for (const LogForm form : {LogForm::Text, LogForm::Events, LogForm::Json}) {
    const std::string line = log_line({.form = form}, event, 1, 0);
    CHECK(line.find('\n') == line.size() - 1);
    CHECK(line.find('\x1B') == std::string::npos);
    CHECK(line.find('\xFF') == std::string::npos);
    CHECK(line.find("\u202E") == std::string::npos);
    CHECK(line.find("secret") == std::string::npos);
    CHECK(line.find("rtsp://u:***@h/") != std::string::npos);
    if (form == LogForm::Json) CHECK(nlohmann::json::parse(line).at("camera") == "north");
  }
}

TEST_CASE("a kind of event is written once a second, with how many the line stands for") {
  PlayedLog played;
  played.log.add(state("north", "lost"));
  CHECK(played.take() == Lines{"contorno: north: lost\n"});
  for (int i = 0; i < 5; ++i) played.log.add(state("north", "again"));
  played.log.add(state("south", "lost"));  // another kind
  CHECK(played.take() == Lines{"contorno: south: lost\n"});
  played.pass(999);
  CHECK(played.take().empty());
  played.pass(1);
  CHECK(played.take() == Lines{"contorno: north: again (the last of 5 such events)\n"});
  played.log.add(state("north", "running"));
  CHECK(played.take().empty());
  played.pass(1000);
  CHECK(played.take() == Lines{"contorno: north: running\n"});
  played.pass(1000);
  played.log.add(state("north", "ended"));
  CHECK(played.take() == Lines{"contorno: north: ended\n"});
}

TEST_CASE("events of one name about different subjects are different kinds") {
  PlayedLog played;
  for (const char* route : {"redis", "mqtt", "redis"})
    played.log.add({.name = "route", .subject = route, .sentence = route});
  CHECK(played.take() == Lines{"contorno: redis\n", "contorno: mqtt\n"});
}

TEST_CASE("sentences that are no event are written at once, and the end writes what is held") {
  PlayedLog played;
  for (int i = 0; i < 3; ++i) played.log.add({.sentence = "same"});
  CHECK(played.take() == Lines(3, "contorno: same\n"));
  for (int i = 0; i < 3; ++i) played.log.add(state("north", std::to_string(i)));
  played.take();
  played.log.finish();
  CHECK(played.take() == Lines{"contorno: north: 2 (the last of 2 such events)\n"});
  played.log.finish();
  CHECK(played.take().empty());
}

TEST_CASE("whatever comes, no kind has two lines in a second, none is lost, and the last word is right") {
  for (unsigned seed = 0; seed < 500; ++seed) {
    PlayedLog played;
    played.log.set_style({.form = LogForm::Json});
    std::mt19937 random(seed);
    std::map<std::string, std::uint64_t> given, counted;
    std::map<std::string, std::int64_t> written;
    std::map<std::string, std::string> last, shown;
    const auto judge = [&](bool at_end) {
      for (const std::string& line : played.take()) {
        const nlohmann::json json = nlohmann::json::parse(line);
        const std::string camera = json.at("camera");
        if (!at_end && written.contains(camera))
          CHECK(played.now - written[camera] >= 1000 * kLogMillisecond);
        written[camera] = played.now;
        counted[camera] += json.value("repeated", std::uint64_t{1});
        shown[camera] = json.at("state");
      }
    };
    for (int step = 0; step < 200; ++step) {
      const std::string camera(1, static_cast<char>('a' + random() % 3));
      last[camera] = std::to_string(step);
      ++given[camera];
      played.log.add(state(camera, last[camera]));
      judge(false);
      played.pass(static_cast<int>(random() % 700));
      judge(false);
    }
    played.log.finish();
    judge(true);
    CHECK(counted == given);
    CHECK(shown == last);
  }
}

TEST_CASE("standard error is the journal's where $JOURNAL_STREAM has its numbers") {
  CHECK(is_journal("8:1234", 8, 1234));
  CHECK_FALSE(is_journal("8:1234", 8, 1235));
  CHECK_FALSE(is_journal("8:12345", 8, 1234));
  CHECK_FALSE(is_journal("", 8, 1234));
  CHECK_FALSE(is_journal(nullptr, 8, 1234));
}
