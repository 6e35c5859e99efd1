// What the benchmarks of the five sources (docs/reference/sources.md) write: a line of JSON a fact, on
// standard output. tools/bench/sources/common.py makes tables and figures of them, here or on another
// machine.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace contorno::sources {

/// What is measured, from the command line.
struct Options {
  bool small = false;  ///< sizes for a test, not for a figure
  int runs = 5;        ///< of each variant; the first one more, which is not counted
};

/// Writes facts, and remembers whether a result was wrong.
class Records {
 public:
  explicit Records(std::string work) : work_(std::move(work)) {}

  /// Seconds of each run of one variant on one case; `more` is added to the line.
  void time(const std::string& name, const std::string& variant, const std::vector<double>& seconds,
            const nlohmann::json& more = nlohmann::json::object());
  /// Whether a baseline has the product's result; `found` says what was compared.
  void check(const std::string& name, const std::string& variant, bool agrees, const std::string& found);
  /// Anything else, for figures.
  void fact(const std::string& kind, nlohmann::json content) const;

  bool all_agree() const { return all_agree_; }

 private:
  std::string work_;
  bool all_agree_ = true;
};

/// Whether there is a device; if not, the reason is written once a work.
bool has_device(const Records& records);

/// Seconds of each of `runs` calls; one more before them is not counted.
template <class F>
std::vector<double> seconds_of(int runs, const F& f) {
  std::vector<double> all;
  for (int run = 0; run <= runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    f();
    if (run > 0)
      all.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return all;
}

/// The times of calls that return their seconds.
template <class F>
std::vector<double> measured(int runs, const F& f) {
  std::vector<double> all;
  for (int run = 0; run <= runs; ++run) {
    const double seconds = f();
    if (run > 0) all.push_back(seconds);
  }
  return all;
}

/// Each work: its cases, the author's variants, written anew, and the product.
void greco(Records& records, const Options& options);
void sciarrillo(Records& records, const Options& options);
void albertini(Records& records, const Options& options);
void della_schiava(Records& records, const Options& options);
void spyrou(Records& records, const Options& options);

}  // namespace contorno::sources
