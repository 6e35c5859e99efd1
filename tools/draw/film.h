// Films of one size that are written frame by frame: video by the sink 'video', GIF and animated PNG by
// writers of our own.
#pragma once

#include <memory>
#include <string>

#include "pipeline/graph/graph.h"
#include "plugins/files/shared/output_register.h"

namespace contorno {

struct FilmFormat {
  int width = 0, height = 0;  ///< px
  int rate = 30;              ///< frames a second
  int frames = 0;
};

class Film {
 public:
  virtual ~Film() = default;
  /// Takes the next frame: RGB of the film's size. Throws Error(Io).
  virtual void add(const ImageView& frame) = 0;
  /// Completes the file, which only then has its name.
  virtual void finish() = 0;
};

/// Throws Error(BadOption) for an extension other than .webm, .mkv, .gif, .apng and .svg.
void check_drawing_path(const std::string& path);

/// By the extension of `path`, all but .svg. Throws Error(CannotCreate, Unavailable).
std::unique_ptr<Film> make_film(const std::string& path, const FilmFormat& format, const Catalog& catalog,
                                OutputRegister& files);

/// The writers that make_film calls.
std::unique_ptr<Film> make_gif(OutputFile file, const FilmFormat& format);
std::unique_ptr<Film> make_apng(OutputFile file, const FilmFormat& format);

/// A frame that follows another one: the box in which they differ, at least one pixel.
class FrameChange {
 public:
  /// The box in which `frame` differs from the one before; all of the first one. Keeps a copy.
  ImageView next(const ImageView& frame);
  int left() const { return left_; }
  int top() const { return top_; }

 private:
  std::vector<std::uint8_t> before_;
  int left_ = 0, top_ = 0;
};

}  // namespace contorno
