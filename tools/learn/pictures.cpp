#include "tools/learn/pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "config/load.h"
#include "config/source_text.h"
#include "pipeline/graph/applied.h"
#include "pipeline/run/runner.h"
#include "plugins/text/pango.h"

namespace contorno {
namespace {

constexpr Colour kBack{24, 27, 32}, kInk{236, 238, 241}, kFaint{150, 156, 165}, kPickLine{255, 255, 255},
    kPickEdge{0, 0, 0, 170};
constexpr int kMargin = 16, kLine = 18;
constexpr int kRuler = 12, kRulerWidth = 30;  // px: height of its numbers, room for them

/// Frames that are in memory already.
class KeptFrames : public Source {
 public:
  explicit KeptFrames(const std::vector<ExampleFrame>& frames) : frames_(frames) { describe_next(); }
  const StreamFormat& format() const override { return format_; }
  ReadResult read(FrameInput& input) override {
    if (next_ == frames_.size()) return ReadResult::End;
    if (*format_.frame != frames_[next_].view.format) {
      describe_next();
      return ReadResult::FormatChanged;
    }
    copy_image(frames_[next_].view, input.frame);
    input.info = frames_[next_++].info;
    return ReadResult::Frame;
  }
  void cancel() override {}

 private:
  void describe_next() { format_.frame = frames_[next_].view.format; }
  const std::vector<ExampleFrame>& frames_;
  std::size_t next_ = 0;
  StreamFormat format_;
};

/// Keeps the images that it gets.
class KeepingSink : public Sink {
 public:
  void open(const SinkContext&) override {}
  void write(const FrameInfo&, const Value& value) override {
    const auto& image = std::get<ImageView>(value);
    ExampleFrame& kept = images_.emplace_back();
    kept.memory = Block(packed_bytes(image.format), MemoryKind::Host);
    kept.view = packed_view(kept.memory.data(), image.format);
    copy_image(image, kept.view);
  }
  void finish() override {}
  std::vector<ExampleFrame>& images() { return images_; }

 private:
  std::vector<ExampleFrame> images_;
};

/// What the graph's first sink that takes images would have got of every kept frame.
std::vector<ExampleFrame> run_on(const std::vector<ExampleFrame>& frames, GraphSpec graph) {
  KeptFrames source(frames);
  config::bind_source(graph, source.format());
  const auto drawn = std::find_if(graph.sinks.begin(), graph.sinks.end(),
                                  [](const SinkSpec& sink) { return sink.type->input == PortType::Image; });
  KeepingSink sink;
  const std::unique_ptr<TextRasteriser> text = make_pango_text();
  Runner runner(graph, source, {{.name = "kept", .sink = &sink, .input = drawn->input}},
                {.backend = choose_backend(graph.settings.backend, graph), .text = text.get()});
  const RunReport report = runner.run();
  if (sink.images().size() != frames.size())
    throw Error(ExitCode::BadData, "learn: " + (report.failures.empty() ? "the graph lost a frame"
                                                                        : report.failures.front().reason));
  return std::move(sink.images());
}

/// A frame within a box, its picks, and a ruler of its pixels above and left of the box.
void draw_frame(Sheet& sheet, const SheetBox& box, const ExampleFrame& frame) {
  const ImageFormat& format = frame.view.format;
  sheet.picture(box, frame.view, {0, 0, format.width, format.height});
  const double scale = static_cast<double>(box.width) / format.width;
  const auto scaled = [&](int pixels) { return static_cast<int>(pixels * scale + 0.5); };
  int step = 10;
  for (int i = 0; scaled(step) < 48; ++i)
    step = i % 3 == 1 ? step * 5 / 2 : step * 2;  // 10, 20, 50, 100, 200, ...
  for (int at = 0; at < format.width; at += step) {
    sheet.fill({box.x + scaled(at), box.y - 5, 1, 5}, kFaint);
    sheet.text(fmt::format("{}", at), box.x + scaled(at) + 3, box.y - kRuler, kRuler, kFaint);
  }
  for (int at = 0; at < format.height; at += step) {
    sheet.fill({box.x - 5, box.y + scaled(at), 5, 1}, kFaint);
    sheet.text(fmt::format("{}", at), box.x - kRulerWidth, box.y + scaled(at), kRuler, kFaint);
  }
  for (const Pick& pick : frame.picks) {
    const SheetBox picked{box.x + scaled(pick.x) - 1, box.y + scaled(pick.y) - 1, scaled(pick.width) + 2,
                          scaled(pick.height) + 2};
    sheet.outline({picked.x - 1, picked.y - 1, picked.width + 2, picked.height + 2}, 3, kPickEdge);
    sheet.outline(picked, 1, kPickLine);
    sheet.text(config::printable(pick.name), picked.x, picked.y + picked.height + 1, 13, kPickLine);
  }
}

std::string title_of(const FrameInfo& info) {
  return info.name.empty() ? fmt::format("frame {}", info.number)
                           : fmt::format("frame {}: {}", info.number, config::printable(info.name));
}

}  // namespace

Sheet swatch_sheet(const LearnedColours& learned, const GraphSpec& graph, const ExampleFrames& examples) {
  constexpr int kSwatch = 64, kGap = 8, kNames = 230, kPicks = 3, kRow = kSwatch + 2 * kLine;
  constexpr std::size_t kAcross = 12;
  const int first = kMargin + kNames + kPicks * (kSwatch + kGap) + kMargin;
  const int width = first + static_cast<int>(kAcross) * (kSwatch + kGap) + kMargin;
  Sheet sheet(width, 2 * kMargin + kRow * static_cast<int>(learned.classes.size()), kBack);
  for (std::size_t k = 0; k < learned.classes.size(); ++k) {
    const LearnedClass& one = learned.classes[k];
    const int y = kMargin + kRow * static_cast<int>(k);
    sheet.fill({kMargin, y, 6, kSwatch}, one.hidden ? kFaint : graph.classes[k].colour);
    sheet.text(config::printable(one.name, 24), kMargin + 14, y, kLine, kInk);
    sheet.text(fmt::format("{} % of the pixels{}", percent_text(one.share), one.hidden ? ", hidden" : ""),
               kMargin + 14, y + kLine + 4, 14, kFaint);
    int x = kMargin + kNames, left = kPicks;
    for (const ExampleFrame& frame : examples.kept)
      for (const Pick& pick : frame.picks) {
        if (pick.name != one.name || left-- <= 0) continue;
        sheet.picture({x, y, kSwatch, kSwatch}, frame.view, {pick.x, pick.y, pick.width, pick.height});
        x += kSwatch + kGap;
      }
    x = first;
    for (std::size_t i = 0; i < std::min(one.references.size(), kAcross); ++i, x += kSwatch + kGap) {
      const Colour& colour = one.references[i];
      sheet.fill({x, y, kSwatch, kSwatch}, colour);
      sheet.text(fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue), x,
                 y + kSwatch + 2, 13, kFaint);
    }
  }
  return sheet;
}

Sheet frame_sheet(const ExampleFrames& examples, const GraphSpec* graph) {
  constexpr int kWidth = 720, kHeight = 540, kTitle = 16, kCell = kRulerWidth + kWidth + kMargin;
  std::vector<ExampleFrame> drawn;
  if (graph != nullptr) drawn = run_on(examples.kept, *graph);
  const auto size_of = [&](const ExampleFrame& frame) {
    const ImageFormat& format = frame.view.format;
    const double scale =
        std::min(static_cast<double>(kWidth) / format.width, static_cast<double>(kHeight) / format.height);
    const auto scaled = [&](int side) { return std::max(1, static_cast<int>(side * scale + 0.5)); };
    return SheetBox{0, 0, scaled(format.width), scaled(format.height)};
  };
  // A frame and what the graph makes of it side by side, or two frames.
  const std::size_t a_row = graph != nullptr ? 1 : 2;
  std::vector<int> tops{kMargin};
  for (std::size_t first = 0; first < examples.kept.size(); first += a_row) {
    int highest = size_of(examples.kept[first]).height;
    if (a_row > 1 && first + 1 < examples.kept.size())
      highest = std::max(highest, size_of(examples.kept[first + 1]).height);
    tops.push_back(tops.back() + kTitle + kRuler + highest + kMargin);
  }
  Sheet sheet(kMargin + 2 * kCell, tops.back(), kBack);
  for (std::size_t i = 0; i < examples.kept.size(); ++i) {
    const ExampleFrame& frame = examples.kept[i];
    const int left = kMargin + kRulerWidth + static_cast<int>(i % a_row) * kCell, top = tops[i / a_row];
    SheetBox box = size_of(frame);
    box.x = left, box.y = top + kTitle + kRuler;
    sheet.text(title_of(frame.info), box.x, top, kTitle, kInk);
    draw_frame(sheet, box, frame);
    if (graph == nullptr) continue;
    const ImageFormat& format = drawn[i].view.format;
    sheet.picture({box.x + kCell, box.y, box.width, box.height}, drawn[i].view,
                  {0, 0, format.width, format.height});
  }
  return sheet;
}

}  // namespace contorno
