// What the decoders of libav say while they decode. They conceal what they cannot read in a picture, do not
// mark it, and only write it to their log. That log is one for the process and names no decoder, and decoders
// have threads of their own: with several videos at a time an error counts for each that libav decodes, and
// its sentence says so. Any thread may write; the object may be read
// from any.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

namespace contorno::gst {

class LibavLog {
 public:
  LibavLog() = default;
  ~LibavLog();
  LibavLog(const LibavLog&) = delete;
  LibavLog& operator=(const LibavLog&) = delete;

  /// Begins to count errors; to be called when the pipeline has a decoder of libav, any number of times.
  void listen();
  /// How many errors there were, and the first of them: "error while decoding MB 5 5 (reported by libav)".
  int count() const;
  std::string first() const;

  /// For the log itself.
  enum class Of : std::uint8_t { ThisVideo, AnyOfSeveral };
  void add(const char* sentence, Of of);

 private:
  mutable std::mutex mutex_;
  int count_ = 0;
  std::string first_;
};

}  // namespace contorno::gst
