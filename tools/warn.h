// What is said on standard error about input that is odd but can be used.
#pragma once

#include <string>

namespace contorno {

/// `sentence` in a form in which names of files in it forge neither lines of a log nor colours.
std::string printable_sentence(const std::string& sentence);
/// Prints "contorno: warning: ..."; nothing for an empty sentence.
void warn(const std::string& sentence);

}  // namespace contorno
