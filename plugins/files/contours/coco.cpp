// Contours as one COCO file (images, annotations, categories). An annotation is a region: one polygon, whose
// holes are cut in by a line there and back from its first point, which fills as the region does and has its
// area. Coordinates are COCO's: corners of pixels at integers, half a pixel more than elsewhere. The file
// grows on disk, not in memory.
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <system_error>

#include "base/error.h"
#include "plugins/files/contours/object_text.h"
#include "plugins/files/contours/regions.h"
#include "plugins/files/contours/text_buffer.h"
#include "plugins/files/shared/output_register.h"

namespace contorno {
namespace {

struct CocoParams {
  std::string path;
  Coordinates coordinates = Coordinates::Frame;
  bool skip_hidden = false;
  OpenContours open_contours = OpenContours::Close;
  std::string file_name;
};

/// Text kept in an unnamed temporary file: the images and records, while the annotations are written.
class Spool {
 public:
  Spool() : file_(std::tmpfile()) {
    if (file_ == nullptr) fail();
  }
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;
  ~Spool() { std::fclose(file_); }

  void write(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail();
  }
  void copy_to(OutputFile& out) {
    if (std::fflush(file_) != 0 || std::fseek(file_, 0, SEEK_SET) != 0) fail();
    std::array<char, 65536> block;
    while (const std::size_t got = std::fread(block.data(), 1, block.size(), file_))
      out.write({block.data(), got});
    if (std::ferror(file_) != 0) fail();
  }

 private:
  [[noreturn]] static void fail() {
    throw Error(ExitCode::Io, "cannot use a temporary file: " + std::generic_category().message(errno));
  }
  std::FILE* file_;
};

class CocoSink final : public Sink {
 public:
  explicit CocoSink(const CocoParams& params) : params_(params), file_names_(params.file_name) {}

  void open(const SinkContext& context) override {
    placer_.open(context, params_.coordinates);
    if (file_.is_open()) return;
    file_ = open_output(context, params_.path, Completion::Rename);
    images_ = std::make_unique<Spool>();
    text_.clear();
    text_
        << R"({"info":{"description":"contours found by contorno","version":"1.0"},"licenses":[],"categories":[)";
    // A class's number is the same whether or not others are left out.
    const char* separator = "\n";
    for (std::size_t k = 0; k < placer_.classes().size(); ++k) {
      if (!is_written(k)) continue;
      text_ << separator << R"({"id":)" << static_cast<std::uint64_t>(k + 1) << R"(,"name":)";
      text_.json(placer_.classes()[k].name) << R"(,"supercategory":"")";
      write_levels(text_, placer_.classes()[k]);
      text_ << '}';
      separator = ",\n";
    }
    text_ << "\n],\"annotations\":[";
    file_.write(text_.view());
  }

  void write(const FrameInfo& info, const Value& value) override {
    const auto& view = std::get<ContoursView>(value);
    const std::uint64_t image_id = ++frames_;
    text_.clear();
    text_ << (image_id == 1 ? "\n" : ",\n") << R"({"id":)" << image_id << R"(,"width":)" << placer_.width()
          << R"(,"height":)" << placer_.height() << R"(,"file_name":)";
    text_.json(file_name_of(info)) << R"(,"frame":)" << info.number << R"(,"pts_ns":)" << info.pts_ns << '}';
    images_->write(text_.view());
    for (std::size_t k = 0; k < static_cast<std::size_t>(view.format.classes); ++k) {
      if (!is_written(k)) continue;
      text_.clear();
      sorter_.sort(view, k, placer_, params_.open_contours);
      for (std::size_t i = 0; i < sorter_.outers().size(); ++i) write_annotation(view, image_id, k + 1, i);
      file_.write(text_.view());
      left_out_ += sorter_.lines().size();
    }
  }

  void write_objects(const FinishedObjects& objects) override {
    if (!objects_) objects_ = std::make_unique<Spool>();
    for (const ObjectRecord& record : objects.records) {
      text_.clear();
      text_ << (records_++ == 0 ? "\n{" : ",\n{");
      write_record(text_, objects, record);
      text_ << '}';
      objects_->write(text_.view());
    }
  }

  void finish() override {
    if (!file_.is_open()) return;
    file_.write("\n],\"images\":[");
    images_->copy_to(file_);
    if (objects_) {
      file_.write("\n],\"objects\":[");
      objects_->copy_to(file_);
    }
    file_.write("\n]}\n");
    file_.complete();
    images_.reset(), objects_.reset();
  }
  std::string summary() const override {
    return fmt::format("{} ({} images, {} annotations{})", file_.path().string(), frames_, annotations_,
                       left_out_ > 0 ? fmt::format("; {} contours are no polygon", left_out_) : "");
  }

 private:
  static constexpr double kHalfPixel = 0.5;

  bool is_written(std::size_t k) const { return !params_.skip_hidden || !placer_.classes()[k].hidden; }

  /// The file name of the picture that was read, unless the graph has a pattern for names (`file_name`).
  std::string file_name_of(const FrameInfo& info) const {
    const std::string& read = info.picture.empty() ? info.name : info.picture;
    if (!params_.file_name.empty()) return file_names_.format(info.number, read);
    return read.empty() ? fmt::format("{:06}.png", info.number) : read;
  }

  void write_annotation(const ContoursView& view, std::uint64_t image_id, std::size_t category,
                        std::size_t index) {
    const RegionSorter::Ring& outer = sorter_.outers()[index];
    double area = outer.measures.area;
    for (const RegionSorter::Ring& hole : sorter_.holes_of(index)) area += hole.measures.area;
    const ContourMeasures& m = outer.measures;
    text_ << (annotations_ == 0 ? "\n" : ",\n") << R"({"id":)" << annotations_ + 1 << R"(,"image_id":)"
          << image_id << R"(,"category_id":)" << static_cast<std::uint64_t>(category)
          << R"(,"iscrowd":0,"area":)" << area << R"(,"bbox":[)" << m.x + kHalfPixel << ','
          << m.y + kHalfPixel << ',' << m.width << ',' << m.height << ']';
    write_attributes(text_, view, outer.contour, placer_);
    text_ << R"(,"segmentation":[[)";
    ++annotations_;
    write_ring(outer.points.first(outer.points.size() - 1));
    const auto holes = sorter_.holes_of(index);
    // The first point again after the ring and after every hole: each way to a hole is walked back.
    if (!holes.empty()) write_ring(outer.points.first(1));
    for (const RegionSorter::Ring& hole : holes) {
      write_ring(hole.points);
      write_ring(outer.points.first(1));
    }
    text_.drop_last();
    text_ << "]]}";
  }
  void write_ring(std::span<const Point> points) {
    for (const Point& point : points) {
      write_corner(point.col);
      write_corner(point.row);
    }
  }
  /// Writes a coordinate half a pixel larger, with as many digits as a reader needs to get the same float32
  /// by taking half a pixel away.
  void write_corner(float centre) {
    const double corner = centre + kHalfPixel;
    // With the same exponent the shortest text of the float32 has all of its bits.
    const auto rounded = static_cast<float>(corner);
    if (std::ilogb(rounded) == std::ilogb(centre))
      text_ << rounded << ',';
    else
      text_ << corner << ',';
  }

  CocoParams params_;
  PathPattern file_names_;
  ContourPlacer placer_;
  RegionSorter sorter_;
  TextBuffer text_;
  OutputFile file_;
  std::unique_ptr<Spool> images_, objects_;
  std::uint64_t frames_ = 0, annotations_ = 0, left_out_ = 0, records_ = 0;
};

}  // namespace

const SinkType& contour_coco_sink() {
  static const SinkType type = [] {
    ParamList<CocoParams> list;
    list.required_text("path", &CocoParams::path, "File to write, below the output folder.");
    list.choice("coordinates", &CocoParams::coordinates, coordinate_words(),
                "Whether points are counted in pixels of the frame or samples of the map.");
    list.choice("open_contours", &CocoParams::open_contours,
                {{"close", OpenContours::Close}, {"skip", OpenContours::Keep}},
                "Whether contours that end at the border become polygons, joined by a straight line.");
    list.flag("skip_hidden", &CocoParams::skip_hidden, kSkipHiddenSentence);
    list.text("file_name", &CocoParams::file_name,
              "File names of the images, with {frame}, {frame:06} or {name}, for example those that a sink "
              "writes; empty: the files that were read, and 000012.png for frame 12 of a video.");
    return SinkType{
        .name = "coco",
        .summary = "Writes regions as polygons of one COCO annotation file.",
        .input = PortType::Contours,
        .params = declare(std::move(list),
                          [](const CocoParams& params, const ParamTrial& trial) {
                            try_output_path(trial, params.path, PathUse::Literal);
                            if (!params.file_name.empty())
                              trial.run("file_name", [&] { PathPattern{params.file_name}; });
                          }),
        .example = "sinks:\n  - type: coco\n    path: annotations.json\n",
        .make = [](const ParamSet& params) -> std::unique_ptr<Sink> {
          return std::make_unique<CocoSink>(params.as<CocoParams>());
        },
    };
  }();
  return type;
}

}  // namespace contorno
