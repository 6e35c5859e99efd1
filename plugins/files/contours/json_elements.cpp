#include "plugins/files/contours/json_elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "pipeline/shared/printable.h"

namespace contorno {
namespace {

using nlohmann::json;

/// A text as it is read, and where its last character lies.
struct CountedText {
  std::streambuf* from;
  std::size_t line = 1, column = 0;
  bool line_ended = false;

  bool at_end() const { return from->sgetc() == std::char_traits<char>::eof(); }
  void advance() {
    if (line_ended) ++line, column = 0;
    line_ended = from->sbumpc() == '\n';
    ++column;
  }
};

/// Iterates over a CountedText, for nlohmann's parser.
class CountedIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  CountedIterator() = default;  ///< the end
  explicit CountedIterator(CountedText& text) : text_(&text) {}

  char operator*() const { return static_cast<char>(text_->from->sgetc()); }
  CountedIterator& operator++() {
    text_->advance();
    return *this;
  }
  bool operator==(const CountedIterator& other) const { return is_end() == other.is_end(); }

 private:
  bool is_end() const { return text_ == nullptr || text_->at_end(); }
  CountedText* text_ = nullptr;
};

/// The callback of nlohmann's parser: is told of every value, and returns false for those to be forgotten.
class ElementParser {
 public:
  ElementParser(std::string_view file, std::span<const std::string_view> arrays, CountedText& text,
                const std::function<void(const JsonElement&)>& take)
      : file_(file), arrays_(arrays), text_(text), take_(take) {}

  bool operator()(int depth, json::parse_event_t event, json& parsed) {
    constexpr int kDeepest = 32;
    using Event = json::parse_event_t;
    if (depth > kDeepest) refuse("nested deeper than 32");
    if (depth == 0 && event != Event::object_start && event != Event::object_end)
      refuse("this is no JSON object; wanted one, COCO or GeoJSON");
    // Values that are passed over may have members twice, since nobody reads them.
    const std::string* doubled =
        depth <= 1 || !member_.empty() ? doubled_.see(depth, event, parsed) : nullptr;
    if (doubled != nullptr) refuse(fmt::format("an object has the member '{}' twice", printable(*doubled)));
    if (depth == 1 && event == Event::key) return begin_member(parsed.get_ref<const std::string&>());
    if (member_.empty()) return true;
    if (depth == 1 && event != Event::array_start && event != Event::array_end)
      refuse(fmt::format("'{}' is no array, wanted one", member_));
    if (depth != 2) return true;
    if (event == Event::object_start) {
      place_ = here();
    } else if (event == Event::object_end) {
      take_({.array = member_,
             .path = fmt::format("{}[{}]", member_, count_++),
             .place = place_,
             .value = parsed});
      return false;
    } else if (event != Event::key) {
      refuse(fmt::format("{}[{}] is no object, wanted one", member_, count_));
    }
    return true;
  }

  const std::vector<std::string_view>& found() const { return found_; }
  JsonPlace here() const {
    return {.file = file_, .line = text_.line, .column = std::max<std::size_t>(text_.column, 1)};
  }

 private:
  bool begin_member(const std::string& name) {
    const auto known = std::find(arrays_.begin(), arrays_.end(), name);
    member_ = known == arrays_.end() ? std::string_view{} : *known;
    count_ = 0;
    if (!member_.empty()) found_.push_back(member_);
    return !member_.empty();
  }
  [[noreturn]] void refuse(const std::string& what) const { JsonMembers(here()).refuse(what); }

  std::string_view file_;
  std::span<const std::string_view> arrays_;
  CountedText& text_;
  const std::function<void(const JsonElement&)>& take_;
  std::string_view member_;  ///< name of the member being read; empty when it is passed over
  std::size_t count_ = 0;    ///< elements of the member before this one
  JsonPlace place_;
  DoubledMembers doubled_;
  std::vector<std::string_view> found_;
};

}  // namespace

std::vector<std::string_view> for_each_element(const std::string& path,
                                               std::span<const std::string_view> arrays,
                                               const std::function<void(const JsonElement&)>& take) {
  std::ifstream file(path, std::ios::binary);
  CountedText text{.from = file.rdbuf()};
  ElementParser parser(path, arrays, text, take);
  try {
    [[maybe_unused]] const json rest =
        json::parse(CountedIterator(text), CountedIterator(), std::ref(parser));
  } catch (const json::exception& error) {
    JsonMembers(parser.here())
        .refuse(json_fault(error, "one complete object, COCO or a GeoJSON FeatureCollection"));
  }
  return parser.found();
}

}  // namespace contorno
