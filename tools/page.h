// What the pages of the program have in common: one HTML file that needs no other file and no network, light
// or dark as the reader's system is.
#pragma once

#include <string>
#include <string_view>

namespace contorno {

/// A whole page. `title` is plain text, `body` HTML; `kind` is the class of the body, by which the style
/// sheet tells the pages apart: "latency" or "replay".
std::string html_page(std::string_view title, std::string_view kind, std::string_view body);

/// `text` from outside as it may stand in such a page, on one line.
std::string html_text(std::string_view text);

}  // namespace contorno
