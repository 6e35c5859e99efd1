#include "tools/draw/pixel_lines.h"

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace contorno {
namespace {

struct Direction {
  int down, right;
};
/// Around a pixel; the opposite one of i is (i + 4) % 8, and odd ones are diagonal.
constexpr std::array<Direction, 8> kDirections{
    {{0, 1}, {1, 1}, {1, 0}, {1, -1}, {0, -1}, {-1, -1}, {-1, 0}, {-1, 1}}};

struct Pixel {
  int row = 0, column = 0;
  bool operator==(const Pixel&) const = default;
};

Pixel beside(Pixel pixel, int direction) {
  const Direction& to = kDirections[static_cast<std::size_t>(direction)];
  return {pixel.row + to.down, pixel.column + to.right};
}

/// The links of every pixel that no line has yet, a bit a direction.
class Links {
 public:
  explicit Links(const ImageView& edges)
      : width_(edges.format.width),
        height_(edges.format.height),
        left_(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_)),
        is_inside_line_(left_.size()) {
    const auto is_set = [&](Pixel at) {
      return at.row >= 0 && at.row < height_ && at.column >= 0 && at.column < width_ &&
             edges.row<const std::uint8_t>(at.row)[at.column] != 0;
    };
    for_pixels([&](Pixel pixel) {
      if (!is_set(pixel)) return;
      unsigned links = 0;
      for (int i = 0; i < 8; ++i) {
        const bool is_diagonal = i % 2 != 0;
        if (is_set(beside(pixel, i)) &&
            !(is_diagonal && (is_set(beside(pixel, i - 1)) || is_set(beside(pixel, (i + 1) % 8)))))
          links |= 1U << i;
      }
      left_[index(pixel)] = static_cast<std::uint8_t>(links);
      is_inside_line_[index(pixel)] = std::popcount(links) == 2 ? 1 : 0;
    });
  }

  template <class Use>
  void for_pixels(const Use& use) const {
    for (int row = 0; row < height_; ++row)
      for (int column = 0; column < width_; ++column) use(Pixel{row, column});
  }
  bool any(Pixel pixel) const { return left_[index(pixel)] != 0; }
  /// Whether a line goes on there: the pixel has two links.
  bool is_inside_line(Pixel pixel) const { return is_inside_line_[index(pixel)] != 0; }
  /// Takes a link of the pixel and returns the pixel at its other end.
  Pixel take(Pixel pixel) {
    const int direction = std::countr_zero(left_[index(pixel)]);
    const Pixel next = beside(pixel, direction);
    remove(pixel, direction);
    remove(next, (direction + 4) % 8);
    return next;
  }

 private:
  std::size_t index(Pixel pixel) const {
    return static_cast<std::size_t>(pixel.row) * static_cast<std::size_t>(width_) +
           static_cast<std::size_t>(pixel.column);
  }
  void remove(Pixel pixel, int direction) {
    left_[index(pixel)] = static_cast<std::uint8_t>(left_[index(pixel)] & ~(1U << direction));
  }

  int width_, height_;
  std::vector<std::uint8_t> left_, is_inside_line_;
};

void add_line(Links& links, Pixel begin, ContourParts& parts) {
  const auto add = [&](Pixel pixel) {
    parts.add({static_cast<float>(pixel.row), static_cast<float>(pixel.column)});
  };
  Pixel pixel = begin;
  add(pixel);
  do {
    pixel = links.take(pixel);
    add(pixel);
  } while (links.is_inside_line(pixel) && links.any(pixel));
  parts.end_contour(pixel == begin);
}

}  // namespace

void add_pixel_lines(const ImageView& edges, ContourParts& parts) {
  Links links(edges);
  const auto add_lines_from = [&](bool inside) {
    links.for_pixels([&](Pixel pixel) {
      while (links.any(pixel) && links.is_inside_line(pixel) == inside) add_line(links, pixel, parts);
    });
  };
  add_lines_from(false);
  add_lines_from(true);  // what is left are closed lines
}

}  // namespace contorno
