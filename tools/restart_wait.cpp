#include "tools/restart_wait.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "tools/interrupt.h"
#include "tools/say.h"
#include "tools/service_manager.h"

namespace contorno {
namespace {

constexpr std::string_view kFirstWord = "device-broke";
constexpr int kMostInARow = 1000;

std::int64_t unix_seconds() {
  using std::chrono::seconds;
  return std::chrono::duration_cast<seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// The first of the folders that the service manager has made; empty: there is none.
std::string state_file() {
  const char* const folders = std::getenv("STATE_DIRECTORY");
  if (folders == nullptr || *folders != '/') return {};
  const std::string_view all(folders);
  return std::string(all.substr(0, all.find(':'))) + "/restarts";
}

template <class Number>
bool take_number(std::string_view& text, Number& number) {
  if (text.empty() || text.front() != ' ') return false;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

}  // namespace

BrokenRun broken_run(const std::optional<BrokenRun>& before, std::int64_t opened_s, std::int64_t ended_s) {
  // A clock that was set back makes a run look short, and never a wait longer than the longest.
  const bool broke_soon = ended_s - opened_s < kSoon_s;
  const bool goes_on = before && broke_soon;
  return {.ended_s = ended_s, .in_a_row = goes_on ? std::min(kMostInARow, before->in_a_row + 1) : 1};
}

std::int64_t restart_wait(const std::optional<BrokenRun>& last, std::int64_t now_s) {
  constexpr int kDoublings = 6;
  if (!last || now_s - last->ended_s >= kSoon_s) return 0;
  return std::min(kSoon_s, std::int64_t{1} << std::min(kDoublings, std::max(1, last->in_a_row) - 1));
}

std::string text_of(const BrokenRun& run) {
  return fmt::format("{} {} {}\n", kFirstWord, run.ended_s, run.in_a_row);
}

std::optional<BrokenRun> broken_run_of(std::string_view text) {
  if (!text.starts_with(kFirstWord)) return std::nullopt;
  text.remove_prefix(kFirstWord.size());
  BrokenRun run;
  if (!take_number(text, run.ended_s) || !take_number(text, run.in_a_row) || text != "\n")
    return std::nullopt;
  if (run.ended_s < 0 || run.in_a_row < 1 || run.in_a_row > kMostInARow) return std::nullopt;
  return run;
}

RestartGuard::RestartGuard() : path_(state_file()) {
  if (path_.empty()) return;
  std::ostringstream text;
  text << std::ifstream(path_).rdbuf();
  last_ = broken_run_of(text.str());
}

bool RestartGuard::wait(ServiceManager& service) {
  const std::int64_t seconds = restart_wait(last_, unix_seconds());
  if (last_ && unix_seconds() - last_->ended_s >= kSoon_s) last_.reset();
  if (seconds > 0) {
    const InterruptGuard guard;  // before anybody learns of the wait: who does may end it
    const std::string sentence =
        fmt::format("the device broke under the last {} run{}: it is opened again in {} s", last_->in_a_row,
                    last_->in_a_row == 1 ? "" : "s", seconds);
    say(sentence);
    service.say_status(sentence);
    constexpr std::int64_t kOpening_s = 30;
    service.ask_for_time((seconds + kOpening_s) * 1'000'000'000);
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    while (std::chrono::steady_clock::now() < until && InterruptGuard::requested() == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  opened_s_ = unix_seconds();
  return InterruptGuard::requested() == 0;
}

void RestartGuard::note_end(int code) {
  if (path_.empty()) return;
  if (code != static_cast<int>(ExitCode::Internal)) {
    std::remove(path_.c_str());
    return;
  }
  const std::string whole = path_ + ".new";
  std::ofstream file(whole, std::ios::trunc);
  file << text_of(broken_run(last_, opened_s_, unix_seconds()));
  file.close();
  if (!file || std::rename(whole.c_str(), path_.c_str()) != 0)
    warn(fmt::format("'{}' cannot be written, and the next run will not wait for the device", path_));
}

}  // namespace contorno
