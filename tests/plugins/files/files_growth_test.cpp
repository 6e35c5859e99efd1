// Files of contours that are made to be slow to write and to read: what is computed is counted, and grows no
// faster than a sort does, or the frame is refused with a sentence. Part of the program whose code counts
// (tests/operations.h).
#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "plugins/files/contours/contour_reader.h"
#include "plugins/files/contours/writer.h"
#include "tests/operations.h"
#include "tests/stages/contour_prep/slow_contours.h"
#include "tests/temporary_folder.h"

using namespace contorno;
using namespace contorno::test;

namespace {

struct FileKind {
  const SinkType& type;
  const char* name;
  bool is_read;
  bool keeps_contours;  ///< one each; others join rings and holes to regions
};

void write(const FileKind& kind, const std::string& folder, const ContoursView& contours) {
  ParamSet params(kind.type.params);
  params.set("path", std::string(kind.name));
  const auto sink = kind.type.make(params);
  SinkContext context;
  context.format = contours.format;
  const std::array classes{ClassSpec{.name = "a"}};
  context.classes = classes;
  context.output_root = folder;
  sink->open(context);
  sink->write(FrameInfo{}, contours);
  sink->finish();
}

/// How many operations writing a file and reading it take for each point; nothing where the frame is refused.
std::optional<std::pair<double, double>> operations_a_point(const FileKind& kind,
                                                            const std::vector<TestContour>& contours) {
  const TestContours given(kSlowSide, kSlowSide, 1, contours);
  const auto points = static_cast<double>(given.view.counts->points);
  const TemporaryFolder folder;
  try {
    const std::uint64_t begin = operations();
    write(kind, folder.path().string(), given.view);
    const std::uint64_t written = operations();
    if (kind.is_read) {
      ContourFrame frame;
      const bool came = open_contours((folder.path() / kind.name).string())->next(frame);
      REQUIRE(came);
      if (kind.keeps_contours) CHECK(frame.view.counts->contours == given.view.counts->contours);
    }
    return std::pair(static_cast<double>(written - begin) / points,
                     static_cast<double>(operations() - written) / points);
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::BadData);
    CHECK(std::string(error.what()).find(", allowed ") != std::string::npos);
    return std::nullopt;
  }
}

}  // namespace

TEST_CASE("no file of contours takes more operations to write or to read than a sort") {
  constexpr int kFew = 6000, kFactor = 4;
  constexpr double kMost = 1.6;  // of a sort 1.16, of all with all 4
  for (const FileKind& kind : {FileKind{contour_jsonl_sink(), "a.jsonl", true, true},
                               FileKind{contour_coco_sink(), "a.json", true, false},
                               FileKind{contour_geojson_sink(), "a.geojson", true, false},
                               FileKind{contour_svg_sink(), "{frame}.svg", false, false}})
    for (const SlowContours& family : slow_contours()) {
      INFO(kind.name, ": ", family.name);
      const auto few = operations_a_point(kind, family.make(kFew)),
                 many = operations_a_point(kind, family.make(kFactor * kFew));
      CHECK(few.has_value() >= many.has_value());
      if (!few || !many) continue;
      CAPTURE(few->first);
      CAPTURE(few->second);
      CAPTURE(many->first);
      CAPTURE(many->second);
      CHECK(few->first > 5);  // it is counted
      CHECK(many->first < kMost * few->first + 20);
      CHECK(many->second < kMost * few->second + 20);
    }
}
