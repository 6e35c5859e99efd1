#include "base/error.h"
#include "plugins/files/contours/cbor_buffer.h"
#include "plugins/files/contours/message.h"

namespace contorno {
namespace {

class JsonFrameMessages final : public FrameMessageWriter {
 public:
  explicit JsonFrameMessages(const ContourLineOptions& options) : lines_(options) {}
  void open(const SinkContext& context) override { lines_.open(context); }
  std::vector<ClassTotals> totals() const override { return lines_.totals(); }

  std::string_view message(const MessageKey& key, const FrameInfo& info, const MessageFrame& frame,
                           const ContoursView& view, MessagePoints points) override {
    head_.clear();
    (head_ << R"("v":)" << kMessageVersion << R"(,"kind":)").json(kFrameKind) << R"(,"run":)" << key.run;
    (head_ << R"(,"camera":)").json(key.camera) << R"(,"n":)" << key.n;
    head_ << R"(,"utc_ns":)" << frame.utc_ns << R"(,"latency_us":)" << frame.latency_us << R"(,"late":)"
          << (frame.late ? "true" : "false") << R"(,"quality":{"level":)" << frame.level << "},";
    const bool written = points == MessagePoints::Written;
    if (!written) head_ << R"("thin":true,)";
    const std::string_view line = lines_.line(info, view, {.head = head_.view(), .points = written});
    return line.substr(0, line.size() - 1);  // without its break
  }

 private:
  ContourLineWriter lines_;
  TextBuffer head_;
};

/// What JsonFrameMessages writes, member by member.
class CborFrameMessages final : public FrameMessageWriter {
 public:
  explicit CborFrameMessages(const ContourLineOptions& options) : options_(options) {}

  void open(const SinkContext& context) override {
    placer_.open(context, options_.coordinates);
    totals_.open(placer_.classes());
  }

  std::vector<ClassTotals> totals() const override {
    std::vector<ClassTotals> written;
    for (std::size_t k = 0; options_.totals && k < placer_.classes().size(); ++k)
      if (is_written(k)) written.push_back(totals_.running(k));
    return written;
  }

  std::string_view message(const MessageKey& key, const FrameInfo& info, const MessageFrame& frame,
                           const ContoursView& view, MessagePoints points) override {
    const std::span<const ContourMeasures> measures = measure_frame(view, placer_, measures_);
    if (options_.totals) totals_.add_frame(view, measures);
    points_ = points;
    out_.clear();
    write_head(key, info, frame);
    const auto classes = static_cast<std::size_t>(view.format.classes);
    std::size_t written = 0;
    for (std::size_t k = 0; k < classes; ++k) written += is_written(k) ? 1 : 0;
    out_.text("classes").array(written);
    for (std::size_t k = 0; k < classes; ++k)
      if (is_written(k)) write_class(view, k, measures);
    return out_.view();
  }

 private:
  bool is_written(std::size_t k) const { return !options_.skip_hidden || !placer_.classes()[k].hidden; }
  bool has_points() const { return points_ == MessagePoints::Written; }

  void write_head(const MessageKey& key, const FrameInfo& info, const MessageFrame& frame) {
    constexpr std::size_t kAlways = 14;
    out_.map(kAlways + (info.name.empty() ? 0 : 1) + (has_points() ? 0 : 1));
    out_.text("v").integer(std::int64_t{kMessageVersion}).text("kind").text(kFrameKind);
    out_.text("run").integer(key.run).text("camera").text(key.camera).text("n").integer(key.n);
    out_.text("utc_ns").integer(frame.utc_ns).text("latency_us").integer(frame.latency_us);
    out_.text("late").boolean(frame.late).text("quality").map(1).text("level");
    out_.integer(std::int64_t{frame.level});
    if (!has_points()) out_.text("thin").boolean(true);
    out_.text("frame").integer(info.number);
    if (!info.name.empty()) out_.text("name").text(info.name);
    out_.text("pts_ns").integer(info.pts_ns);
    out_.text("width").integer(std::int64_t{placer_.width()});
    out_.text("height").integer(std::int64_t{placer_.height()});
  }

  void write_class(const ContoursView& view, std::size_t k, std::span<const ContourMeasures> measures) {
    const ClassSpec& spec = placer_.classes()[k];
    out_.map(options_.totals ? 4 : 3).text("name").text(spec.name);
    if (spec.levels.empty()) {
      out_.text("level").number(spec.level);
    } else {
      out_.text("levels").array(spec.levels.size());
      for (const double level : spec.levels) out_.number(level);
    }
    if (options_.totals) write_totals(totals_.of_frame(k));
    out_.text("contours").array(view.class_begin[k + 1] - view.class_begin[k]);
    for (std::uint32_t i = view.class_begin[k]; i < view.class_begin[k + 1]; ++i)
      write_contour(view, i, measures[i]);
  }

  void write_totals(const ClassTotals& totals) {
    const auto or_null = [&](const std::optional<double>& value) {
      value ? out_.number(*value) : out_.null();
    };
    out_.text("totals").map(5).text("contours").integer(totals.contours);
    out_.text("area").number(totals.area).text("perimeter").number(totals.perimeter);
    out_.text("share"), or_null(totals.share);
    out_.text("mean"), or_null(totals.mean);
  }

  void write_contour(const ContoursView& view, std::uint32_t index, const ContourMeasures& m) {
    constexpr std::size_t kAlways = 5;
    const Attributes attributes = view.format.attributes;
    out_.map(kAlways + (attributes.empty() ? 0 : 1) + (has_points() ? 1 : 0));
    out_.text("closed").boolean(view.closed[index] != 0);
    out_.text("area").number(m.area).text("length").number(m.length);
    out_.text("bbox").array(4).number(m.x).number(m.y).number(m.width).number(m.height);
    out_.text("centroid").array(2).number(m.centroid_x).number(m.centroid_y);
    if (!attributes.empty()) {
      const AttributeValues values = placer_.attributes(view, index);
      out_.text("attributes").map(static_cast<std::size_t>(attributes.count()));
      attributes.for_each([&](Attribute attribute) {
        out_.text(name_of(attribute)).number(values[static_cast<std::size_t>(attribute)]);
      });
    }
    if (has_points()) out_.text("points").points(placer_.points(view, index));
  }

  ContourLineOptions options_;
  ContourPlacer placer_;
  TotalsCounter totals_;
  std::vector<ContourMeasures> measures_;
  MessagePoints points_ = MessagePoints::Written;
  CborBuffer out_;
};

}  // namespace

std::unique_ptr<FrameMessageWriter> make_frame_messages(MessageForm form, const ContourLineOptions& options) {
  switch (form) {
    case MessageForm::Json:
      return std::make_unique<JsonFrameMessages>(options);
    case MessageForm::Cbor:
      return std::make_unique<CborFrameMessages>(options);
  }
  throw InternalError("a form of messages without a writer");
}

}  // namespace contorno
