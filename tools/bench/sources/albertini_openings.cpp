// A. Albertini's tables 4 to 7 and graphs 6 to 10: openings of colour images.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>

#include "base/memory.h"
#include "pipeline/graph/applied.h"
#include "stages/diamond_square/field.h"
#include "stages/morphology/stage.h"
#include "tools/bench/sources/albertini.h"
#include "tools/bench/sources/records.h"

namespace contorno::sources {
namespace {

/// The program of the thesis: channels with cells around them that take no part, and offsets into these.
class Opening {
 public:
  Opening(const Pixels& image, int side)
      : image_(image),
        first_((side - 1) / 2),
        width_(image.width + side - 1),
        height_(image.height + side - 1),
        out_(image.rgba) {
    for (auto* channels : {&split_, &work_})
      for (auto& channel : *channels)
        channel.resize(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_));
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) {
        erosion_.push_back((y - side / 2) * width_ + x - side / 2);
        dilation_.push_back((side - 1 - y - side / 2) * width_ + side - 1 - x - side / 2);
      }
  }

  std::vector<std::uint8_t> execute(OpeningVersion version, int threads) {
    using enum OpeningVersion;
    const bool split_in_sections = version == Sections || version == SectionsToSplit;
    const bool work_in_sections = version == Sections || version == SectionsToWork;
#pragma omp parallel num_threads(threads) if (version != Serial)
    {
      if (split_in_sections) {
#pragma omp sections
        {
#pragma omp section
          for (int row = 0; row < height_; ++row) split_row(row);
#pragma omp section
          for (int row = 0; row < height_; ++row) fill_row(row);
        }
      } else {
#pragma omp for
        for (int row = 0; row < height_; ++row) split_row(row);
#pragma omp for
        for (int row = 0; row < height_; ++row) fill_row(row);
      }
      if (work_in_sections) {
#pragma omp sections
        {
#pragma omp section
          open_alone(0);
#pragma omp section
          open_alone(1);
#pragma omp section
          open_alone(2);
        }
      } else {
        for (std::size_t channel = 0; channel < 3; ++channel) {
#pragma omp for
          for (int row = 0; row < image_.height; ++row) erode_row(channel, row);
#pragma omp for
          for (int row = 0; row < image_.height; ++row) dilate_row(channel, row);
        }
      }
#pragma omp for
      for (int row = 0; row < image_.height; ++row) compose_row(row);
    }
    return std::move(out_);
  }

 private:
  std::size_t place(int row, int col) const {
    return static_cast<std::size_t>(row + first_) * static_cast<std::size_t>(width_) +
           static_cast<std::size_t>(col + first_);
  }
  /// Around an erosion everything is as large as can be.
  void split_row(int row) {
    for (int col = 0; col < width_; ++col) {
      const int y = row - first_, x = col - first_;
      const bool inside = y >= 0 && y < image_.height && x >= 0 && x < image_.width;
      for (std::size_t channel = 0; channel < 3; ++channel)
        split_[channel][static_cast<std::size_t>(row) * static_cast<std::size_t>(width_) +
                        static_cast<std::size_t>(col)] =
            inside ? image_.rgba[4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image_.width) +
                                      static_cast<std::size_t>(x)) +
                                 channel]
                   : std::uint8_t{255};
    }
  }
  /// And around a dilation as small.
  void fill_row(int row) {
    for (int col = 0; col < width_; ++col) {
      const int y = row - first_, x = col - first_;
      if (y >= 0 && y < image_.height && x >= 0 && x < image_.width) continue;
      for (auto& channel : work_)
        channel[static_cast<std::size_t>(row) * static_cast<std::size_t>(width_) +
                static_cast<std::size_t>(col)] = 0;
    }
  }
  void erode_row(std::size_t channel, int row) {
    for (int col = 0; col < image_.width; ++col) {
      const std::uint8_t* middle = split_[channel].data() + place(row, col);
      std::uint8_t least = 255;
      for (const int offset : erosion_) least = std::min(least, middle[offset]);
      work_[channel][place(row, col)] = least;
    }
  }
  void dilate_row(std::size_t channel, int row) {
    for (int col = 0; col < image_.width; ++col) {
      const std::uint8_t* middle = work_[channel].data() + place(row, col);
      std::uint8_t most = 0;
      for (const int offset : dilation_) most = std::max(most, middle[offset]);
      split_[channel][place(row, col)] = most;
    }
  }
  void open_alone(std::size_t channel) {
    for (int row = 0; row < image_.height; ++row) erode_row(channel, row);
    for (int row = 0; row < image_.height; ++row) dilate_row(channel, row);
  }
  void compose_row(int row) {
    for (int col = 0; col < image_.width; ++col)
      for (std::size_t channel = 0; channel < 3; ++channel)
        out_[4 * (static_cast<std::size_t>(row) * static_cast<std::size_t>(image_.width) +
                  static_cast<std::size_t>(col)) +
             channel] = split_[channel][place(row, col)];
  }

  const Pixels& image_;
  int first_, width_, height_;
  std::vector<int> erosion_, dilation_;
  std::vector<std::uint8_t> split_[3], work_[3], out_;
};

/// A picture in colours, by Diamond-Square: those of the thesis are not part of it.
Pixels picture(int width, int height) {
  Pixels image{.width = width,
               .height = height,
               .rgba = std::vector<std::uint8_t>(
                   4 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height), 255)};
  const ImageFormat grey{.width = width, .height = height, .channels = 1};
  const Block field(packed_bytes(grey), MemoryKind::Host);
  const ImageView view = packed_view(field.data(), grey);
  for (int channel = 0; channel < 3; ++channel) {
    diamond_square({.seed = static_cast<std::uint64_t>(channel), .roughness = 0.5}, view,
                   omp_get_num_procs());
    for (int row = 0; row < height; ++row)
      for (int col = 0; col < width; ++col)
        image.rgba[4 * (static_cast<std::size_t>(row) * static_cast<std::size_t>(width) +
                        static_cast<std::size_t>(col)) +
                   static_cast<std::size_t>(channel)] = view.row<std::uint8_t>(row)[col];
  }
  return image;
}

ImageView pixels_view(std::vector<std::uint8_t>& rgba, const Pixels& image) {
  return {.data = rgba.data(),
          .format = {.width = image.width, .height = image.height, .channels = 4},
          .row_pitch = 4 * std::ptrdiff_t{image.width}};
}

std::vector<std::uint8_t> opened_by_contorno(Pixels& image, int side, int threads) {
  std::vector<std::uint8_t> out(image.rgba.size());
  apply_morphology(MorphologyOperation::Opening, pixels_view(image.rgba, image),
                   StructuringElement::rectangle(side, side), pixels_view(out, image), {},
                   {.threads = threads});
  return out;
}

void measure_opening(Records& records, Pixels& image, int side, const Options& options,
                     [[maybe_unused]] bool device) {
  const std::string name = fmt::format("{}x{}, SE {}x{}", image.width, image.height, side, side);
  const int all = omp_get_num_procs();
  const std::vector<std::uint8_t> expected = opened_by_contorno(image, side, 1);
  std::vector<std::uint8_t> found;
  const auto variant = [&](const std::string& called, const auto& run) {
    records.time(name, called, seconds_of(options.runs, [&] { found = run(); }));
    records.check(name, called, found == expected, "the bytes of contorno's opening");
  };
  variant("serial", [&] { return opening_on_host(image, side, OpeningVersion::Serial, 1); });
  variant("OpenMP", [&] { return opening_on_host(image, side, OpeningVersion::Loops, all); });
  variant("contorno, 1 thread", [&] { return opened_by_contorno(image, side, 1); });
  variant("contorno, all threads", [&] { return opened_by_contorno(image, side, all); });
#if CONTORNO_HAVE_CUDA
  if (!device) return;
  variant("CUDA", [&] { return opening_on_device(image, side); });
  ParamSet params(morphology_stage().params);
  params.set("operation", std::string("open"));
  params.set("size", std::vector<double>{static_cast<double>(side), static_cast<double>(side)});
  AppliedStage stage(morphology_stage(), params, Backend::Cuda, 0);
  const Format format = pixels_view(image.rgba, image).format;
  stage.plan(std::span(&format, 1));
  std::vector<std::uint8_t> out(image.rgba.size());
  variant("contorno, CUDA", [&] {
    copy_image(pixels_view(image.rgba, image), stage.image_input(0));
    stage.run();
    copy_image(std::get<ImageView>(stage.output(0)), pixels_view(out, image));
    return out;
  });
#endif
}

void measure_versions(Records& records, Pixels& image, int side, const Options& options) {
  const std::string name = fmt::format("{}x{}, SE {}x{}", image.width, image.height, side, side);
  const std::vector<std::uint8_t> expected = opened_by_contorno(image, side, 1);
  const std::pair<OpeningVersion, const char*> versions[] = {{OpeningVersion::Sections, "first"},
                                                             {OpeningVersion::SectionsToSplit, "second"},
                                                             {OpeningVersion::SectionsToWork, "third"},
                                                             {OpeningVersion::Loops, "fourth"}};
  for (const auto& [version, called] : versions) {
    std::vector<std::uint8_t> found;
    for (int threads = 1; threads <= (options.small ? 3 : 10); ++threads)
      records.time(name, fmt::format("OpenMP, {} version, p = {}", called, threads),
                   seconds_of(options.runs, [&, version = version] {
                     found = opening_on_host(image, side, version, threads);
                   }));
    records.check(name, fmt::format("OpenMP, {} version", called), found == expected,
                  "the bytes of contorno's opening");
  }
}

}  // namespace

std::vector<std::uint8_t> opening_on_host(const Pixels& image, int side, OpeningVersion version,
                                          int threads) {
  return Opening(image, side).execute(version, threads);
}

void measure_openings(Records& records, const Options& options, bool device) {
  if (options.small) {
    Pixels image = picture(61, 47);
    measure_versions(records, image, 5, options);
    for (const int side : {3, 7}) measure_opening(records, image, side, options, device);
    return;
  }
  const std::pair<int, int> sizes[] = {{640, 480}, {1920, 2560}, {3264, 2448}};
  for (const auto& [width, height] : sizes) {
    Pixels image = picture(width, height);
    if (width == 1920) measure_versions(records, image, 11, options);
    for (const int side : {3, 5, 7, 9, 11}) measure_opening(records, image, side, options, device);
  }
}

void albertini(Records& records, const Options& options) {
  const bool device = has_device(records);
  measure_heights(records, options, device);
  measure_openings(records, options, device);
}

}  // namespace contorno::sources
