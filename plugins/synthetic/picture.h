// Paints what the camera sees of a Line (the colour frame) and which class each sample belongs to (the maps).
// Both are painted row by row, so that they are the same for any number of threads. Painters borrow the Line,
// and allocate their tables and scratch when they are made.
#pragma once

#include <vector>

#include "pipeline/value/image.h"
#include "plugins/synthetic/line.h"

namespace contorno::synthetic {

/// Paints frames: uint8, 4 interleaved channels (red green blue alpha).
class FramePainter {
 public:
  FramePainter(const Line& line, int width, int height, double noise, std::uint64_t seed);
  void paint(std::uint64_t frame, const ImageView& out);

 private:
  struct Column {
    float shade = 0, shine = 0;
    int cloud = 0;
  };
  void prepare(double travelled);
  void paint_background(int y);
  void paint_shadow(const LyingFruit& lying, int y);
  void paint_fruit(const LyingFruit& lying, int y);
  void paint_stem(const LyingFruit& lying, const StemLine& stem, int y);
  void store_row(std::uint64_t frame, int y, const ImageView& out) const;
  Vec3* row(int y) { return &light_[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_)]; }

  const Line& line_;
  int width_, height_;
  float pixel_;  ///< side of a pixel, in lanes
  float noise_;
  std::uint64_t seed_;
  std::vector<Column> columns_;  ///< of even lanes, then of odd ones
  std::vector<Vec3> light_;
  std::vector<std::uint8_t> srgb_;  ///< table from light
  std::vector<float> grain_;        ///< of the camera
  Vec3 stem_foot_ = colour(0x4a3a1c), stem_tip_ = colour(0x6b4a28);
};

struct MapParams {
  double softness = 1.2;  ///< of edges, in px of the map
  double noise = 0.08;    ///< how far probabilities err, as a share of them
};

/// Fills class maps: float32, float16 or uint8, either layout, any number of classes.
class MapPainter {
 public:
  MapPainter(const Line& line, const ImageFormat& format, const MapParams& params, std::uint64_t seed);
  void paint(std::uint64_t frame, const ImageView& out);

 private:
  void true_row(int y);
  void add_fruit(const LyingFruit& lying, int y, float offset, float* row);
  void add_point(const LyingFruit& lying, const Rays& rays, int i, float skin_share, float stem_share,
                 bool stem_in_front, float* sample) const;
  void blur_row(int y);
  void finish_row(std::uint64_t frame, int y, const ImageView& out);
  void store_row(const float* shares, const float* factors, int y, int klass, const ImageView& out) const;
  float* plane_row(std::vector<float>& block, int y, int klass) const {
    return &block[(static_cast<std::size_t>(y) * static_cast<std::size_t>(channels_) +
                   static_cast<std::size_t>(klass)) *
                  static_cast<std::size_t>(format_.width)];
  }

  const Line& line_;
  ImageFormat format_;
  int channels_;  ///< that are worked out: with a single class, its complement too
  float noise_;
  std::uint64_t seed_;
  float step_x_, step_y_;  ///< from sample to sample, in lanes
  int class_of_[kLabels] = {};
  std::vector<float> taps_;             ///< of the blur, from the middle on
  std::vector<float> truth_, blurred_;  ///< rows of all classes
  std::vector<float> sums_;
};

/// The class that a label belongs to where there are `classes` classes; with one class (defects), 1 means
/// none.
int class_of(Label label, int classes);

}  // namespace contorno::synthetic
