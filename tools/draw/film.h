// Films that are written frame by frame: WebM and Matroska by the sink 'video', GIF by giflib, animated PNG
// as the PNG pictures of its frames. A film belongs to one thread; one that is not finished leaves no file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/graph/graph.h"
#include "plugins/files/shared/output_register.h"

namespace contorno {

struct FilmFormat {
  int width = 0, height = 0;  ///< px
  int rate = 30;              ///< frames a second
  int frames = 0;             ///< how many will be added
};

class Film {
 public:
  virtual ~Film() = default;
  /// Takes the next frame: height x width x 3 uint8 (RGB) of the film's size, borrowed for the call. Throws
  /// Error(Io).
  virtual void add(const ImageView& frame) = 0;
  /// After the last frame: gives the temporary file its name; without it no file remains. Throws Error(Io).
  virtual void finish() = 0;
};

/// A new extension is named here and in make_film. Throws Error(Usage) for another one than .webm, .mkv,
/// .gif, .apng and .svg.
void check_drawing_path(const std::string& path);

/// The film whose format the extension of `path` names; it must be one that check_drawing_path allows, other
/// than .svg. `catalog` and `files` are borrowed for the film's life. Throws Error(CannotCreate), and
/// Error(Unavailable) for video without GStreamer.
std::unique_ptr<Film> make_film(const std::string& path, const FilmFormat& format, const Catalog& catalog,
                                OutputRegister& files);

/// Films as GIF and APNG, for make_film; they take the file over, which is empty.
std::unique_ptr<Film> make_gif(OutputFile file, const FilmFormat& format);
std::unique_ptr<Film> make_apng(OutputFile file, const FilmFormat& format);

/// What is new in each frame of a film, so that formats which allow it store no more.
class FrameChange {
 public:
  /// The smallest box outside of which `frame` equals the one before; all of the first frame, one pixel when
  /// nothing differs. A view into `frame`, of which a copy is kept for the next call.
  ImageView next(const ImageView& frame);
  /// Where the last box begins in its frame, px.
  int left() const { return left_; }
  int top() const { return top_; }

 private:
  std::vector<std::uint8_t> before_;
  int left_ = 0, top_ = 0;
};

}  // namespace contorno
