// What may stand at the end of a command line that is being typed, by the same command line and declarations
// as help has. The scripts of the shells (scripts.h) ask the program for it.
#pragma once

#include <string>
#include <vector>

#include "pipeline/graph/graph.h"
#include "tools/shell/command_page.h"

namespace contorno {

struct Candidate {
  std::string word;
  std::string sentence;  ///< what it is, on one line; may be empty
};

/// What the last word may become.
struct LineCompletion {
  std::vector<Candidate> candidates;  ///< whole words that begin as the last word does
  bool files = false, folders = false;
  std::vector<std::string> endings;  ///< of files, without the dot; empty: any
  bool goes_on = false;              ///< a candidate is the beginning of a word: no blank behind it

  /// A line a candidate, "word TAB sentence", and lines for the rest: ":files yaml yml", ":folders",
  /// ":goes-on".
  std::string text() const;
};

/// `words` are those behind the program's name; the last one, which may be empty, is being typed. What stands
/// before it need not be right.
LineCompletion complete_line(const std::vector<std::string>& words, const ProgramPages& pages,
                             const Catalog& catalog);

}  // namespace contorno
