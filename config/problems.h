// All mistakes of one graph file, collected so that the user sees them in a single run, in the order of the
// file, each with its line, a caret and, if known, how to correct it.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "config/source_text.h"

namespace contorno::config {

struct Problem {
  Place place;
  std::string message;
  std::string fix;  ///< empty: nothing better to say than the message
  ExitCode code = ExitCode::BadConfig;
};

class Problems {
 public:
  /// `text` must outlive this. `overrides` are the texts after `option` on the command line, which places
  /// with an override_index refer to.
  Problems(std::string file_name, const SourceText& text, std::vector<std::string> overrides,
           std::string option = "--set ");

  void add(const Place& place, std::string message, std::string fix = {},
           ExitCode code = ExitCode::BadConfig);
  /// Whether there is a problem at this place already.
  bool has(const Place& place) const;
  /// Problems of the same text and command line, without any so far.
  Problems empty_copy() const;
  /// Adds what was found by another reading of the same text, but for places where there is a problem
  /// already.
  void add_new(const Problems& others);
  void append(const Problems& others) {
    problems_.insert(problems_.end(), others.problems_.begin(), others.problems_.end());
  }
  bool empty() const { return problems_.empty(); }
  std::size_t size() const { return problems_.size(); }

  /// "line 12", or "--set small.sigma" for a place on the command line.
  std::string name_of(const Place& place) const;
  /// "graph.yaml:12:9", or "--set small.sigma": how a message about this place begins.
  std::string where(const Place& place) const;
  /// The exit code of all: BadConfig if any problem has it, else that of the first.
  ExitCode code() const;
  /// The whole report; ends without a newline.
  std::string report() const;

 private:
  std::string render(const Problem& problem) const;

  std::string file_name_;
  const SourceText* text_;
  std::vector<std::string> overrides_;
  std::string option_;
  std::vector<Problem> problems_;
};

/// " (did you mean 'min_area'?)", or nothing when no candidate is near.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace contorno::config
