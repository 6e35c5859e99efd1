// Counts the errors that libav's decoders log. They conceal what they cannot read in a picture and do not
// mark the frame: only the log tells. There is one log for the process, and it names no decoder: when several
// videos are decoded at a time, an error counts for each that libav decodes, and its sentence says so. Any
// thread may use any function.
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

  /// Begins to count errors, until the object is destroyed. Called when a pipeline gets a decoder of libav;
  /// further calls do nothing.
  void listen();
  /// How many errors there were, and the first of them: "error while decoding MB 5 5 (reported by libav)".
  int count() const;
  std::string first() const;

  /// Called by the log for each error.
  enum class Of : std::uint8_t { ThisVideo, AnyOfSeveral };
  void add(const char* sentence, Of of);

 private:
  mutable std::mutex mutex_;
  int count_ = 0;
  std::string first_;
};

}  // namespace contorno::gst
