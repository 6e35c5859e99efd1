// VideoInput is the location of the source `video`: a file, a pipe, standard input, an address or shared
// memory. The constructor says which kind it is and refuses what cannot be read; build() makes the elements
// that read it. Used by the thread that opens and reads the source.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plugins/files/video/facts.h"
#include "plugins/gst/pipeline.h"

namespace contorno::gst {

struct VideoInputOptions {
  int latency_ms = 0;  ///< of the jitter buffer, in sources that have one (RTSP)
  int timeout_ms = 0;  ///< longest wait for the first bytes of a pipe or standard input; 0: for ever
  std::string caps;    ///< format of the frames in shared memory, as GStreamer writes caps; only for shm://
  std::string credentials;  ///< the file of a login (plugins/media/login.h); empty: none
};

class VideoInput {
 public:
  /// Throws Error(MissingInput) for a path that does not exist or is a folder or device, Error(BadConfig) for
  /// tcp:// without host or port and shm:// without caps, Error(Io) when a cut GIF cannot be copied,
  /// Error(BadData) for a picture of a format that is not read.
  VideoInput(const std::string& location, const VideoInputOptions& options);

  /// Adds the elements, up to the RGBA frames. Throws Error(MissingInput) when nobody writes into the pipe,
  /// Error(BadConfig) for caps that do not parse or leave a value open, Error(OutOfMemory), and as
  /// stream_login.
  void build(FramePipeline& pipeline) const;

  bool can_be_read_again() const { return kind_ != Kind::Pipe; }
  bool is_rtsp() const { return kind_ == Kind::Uri && address_.starts_with("rtsp"); }
  /// The regular file that it is, or empty.
  const std::string& file() const { return file_; }

 private:
  enum class Kind : std::uint8_t { Uri, Pipe, Tcp, SharedMemory };

  void set_path(const std::string& path);
  void set_tcp(const std::string& location);
  void complete_gif(const std::string& path, const ContainerFacts& facts);
  void open_pipe(const std::string& path) const;
  GstElement* add_source(FramePipeline& pipeline) const;

  Kind kind_ = Kind::Uri;
  VideoInputOptions options_;
  std::string address_;  // URI, host, or path of a pipe or socket; "-" for standard input
  int port_ = 0;
  std::string file_;
  std::vector<ShownPart::Patch> patches_;  // of the file, as it is read
  struct Descriptor;
  std::shared_ptr<Descriptor> pipe_, copy_;  // pipe or copy that is read in place of the file
};

}  // namespace contorno::gst
