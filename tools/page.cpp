#include "tools/page.h"

#include <fmt/format.h>

#include "pipeline/shared/printable.h"

namespace contorno {
namespace {

// In replay's pictures what was before is blue and what is new orange, which readers who do not tell red from
// green apart see; what did not change is grey.
constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --text: #1c2430; --back: #fbfbfd; --soft: #e3e7ee; --dim: #5c6675; --blue: #2a6f97;
  --red: #c8203a; --green: #2e7d4f; --orange: #d9620a; --grey: #aeb7c4; --true: #9fc5a8; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e8ee; --back: #14181f; --soft: #303844; --dim: #9aa5b4;
  --blue: #6fb4dc; --red: #ff6b7f; --green: #6fcf97; --orange: #ff9f4a; --grey: #5b6675; --true: #3f6b4c; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); margin: 24px auto;
  padding: 0 20px; max-width: 76em; }
body.latency { max-width: 920px; }
h1 { font-size: 22px; } h2 { font-size: 16px; margin: 28px 0 6px; }
table { border-collapse: collapse; margin: 0 0 1em; font-size: 13px; font-variant-numeric: tabular-nums; }
td, th { text-align: right; padding: 3px 9px; border-bottom: 1px solid var(--soft); white-space: nowrap; }
td:first-child, th:first-child { text-align: left; }
.wide { overflow-x: auto; } .facts td { text-align: left; white-space: normal; }
pre { background: var(--soft); padding: 10px; border-radius: 4px; overflow-x: auto; font-size: 12px; }
summary { cursor: pointer; font-size: 14px; margin-top: 8px; }
svg { width: 100%; height: auto; display: block; }
.result { padding: 10px 14px; border-left: 6px solid var(--dim); background: var(--soft); border-radius: 4px; }
.result.PASS { border-color: var(--green); } .result.FAIL { border-color: var(--red); }
.note, figcaption { color: var(--dim); font-size: 13px; margin: 2px 0 8px; }
.axis { font-size: 11px; fill: var(--dim); } .value { font-size: 11px; fill: var(--text); }
.grid { stroke: var(--soft); } .bar { fill: var(--blue); } .line { fill: none; stroke: var(--blue); stroke-width: 1.8; }
.deadline { stroke: var(--red); stroke-dasharray: 6 4; stroke-width: 1.5; } .missed { stroke: var(--red); opacity: .5; }
.most { fill: var(--blue); opacity: .45; } .lane { fill: var(--soft); opacity: .45; }
.replay td:last-child, .replay th:last-child { text-align: left; white-space: normal; }
figure { display: inline-block; width: 32%; margin: 0 .6% 0 0; vertical-align: top; } figure.score { width: 48%; }
figure svg { background: var(--soft); border: 1px solid var(--grey); }
figure path { fill: none; stroke-width: 1.4; vector-effect: non-scaling-stroke; }
svg.hidden { position: absolute; width: 0; height: 0; }
.same { stroke: var(--grey); } .before { stroke: var(--blue); } .after, .found { stroke: var(--orange); }
figure path.truth { fill: var(--true); stroke: none; }
.key b { display: inline-block; width: 1.6em; height: .25em; vertical-align: middle; margin: 0 .4em 0 1em; }
.key .before { background: var(--blue); } .key .after, .key .found { background: var(--orange); }
.key .same { background: var(--grey); } .key .truth { background: var(--true); }
)";

}  // namespace

std::string html_page(std::string_view title, std::string_view kind, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title>\n"
      "<meta name=\"viewport\" content=\"width=device-width\"><style>{}</style></head><body class=\"{}\">\n"
      "{}</body></html>\n",
      html_text(title), kStyle, kind, body);
}

std::string html_text(std::string_view text) {
  return markup(printable_sentence(text));
}

}  // namespace contorno
