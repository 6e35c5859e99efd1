// Where the source `video` gets its stream from: a file, a pipe, standard input, an address, shared memory.
// Says which of them a location is, refuses what cannot be read before anything is opened, and makes the
// elements that read it. Used by the thread that opens and reads the source.
#pragma once

#include <memory>
#include <string>

#include "plugins/gst/pipeline.h"

namespace contorno::gst {

struct VideoInputOptions {
  int latency_ms = 0;  ///< jitter buffer of an RTSP stream
  int timeout_ms = 0;  ///< longest wait for somebody to write into a pipe; 0: for ever
  std::string caps;    ///< what lies in shared memory, as GStreamer writes it
};

class VideoInput {
 public:
  /// Throws Error(MissingInput) for what is not there or no video input, Error(BadConfig) for an address that
  /// lacks something.
  VideoInput(const std::string& location, const VideoInputOptions& options);

  /// Adds the elements, up to the RGBA frames. Throws Error(MissingInput) when nobody writes into the pipe,
  /// Error(BadConfig) for caps that are none.
  void build(FramePipeline& pipeline) const;

  bool can_be_read_again() const { return kind_ != Kind::Pipe; }
  bool is_rtsp() const { return kind_ == Kind::Uri && address_.starts_with("rtsp"); }
  /// The regular file that it is, or empty.
  const std::string& file() const { return file_; }

 private:
  enum class Kind : std::uint8_t { Uri, Pipe, Tcp, SharedMemory };

  void set_path(const std::string& path);
  void set_tcp(const std::string& location);
  void complete_gif(const std::string& path);
  void open_pipe(const std::string& path) const;
  GstElement* add_source(FramePipeline& pipeline) const;

  Kind kind_ = Kind::Uri;
  VideoInputOptions options_;
  std::string address_;  // URI, host, or path of a pipe or socket; "-" for standard input
  int port_ = 0;
  std::string file_;
  struct Descriptor;
  std::shared_ptr<Descriptor> pipe_, copy_;  // what is read in place of the file
};

}  // namespace contorno::gst
