// A chain of GStreamer elements that works in the calling thread: what comes out of it for a buffer has come
// when push() returns. There is no thread, queue or waiting, so one image costs its decoding or encoding and
// nothing else. Only for elements that do not start threads of their own. Used by one thread at a time.
#pragma once

#include <initializer_list>
#include <string>

#include "plugins/gst/pipeline.h"

namespace contorno::gst {

class Chain {
 public:
  Chain();
  ~Chain();
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  GstElement* add(const char* element) { return make_element(GST_BIN(bin_.get()), element); }
  /// Links the elements, which add() has made, in this order between the chain's own pads, and starts them.
  void start(std::initializer_list<GstElement*> elements);

  /// Sends `buffer`, which it takes over, under `caps` through the chain. False when an element fails, with a
  /// sentence in `error` that begins with `subject`; the chain must then not be used again. True without an
  /// output() when elements have kept the buffer.
  bool push(GstCaps* caps, GstBuffer* buffer, const std::string& subject, std::string& error);
  /// Ends the stream, for elements that wait for more input; returns as push(). The chain must then not be
  /// used again.
  bool drain(const std::string& subject, std::string& error);

  /// The first buffer that came out of the last push, with its caps; null when none came.
  GstSample* output() const { return output_.get(); }
  void release_output() { output_.reset(); }

 private:
  static GstFlowReturn on_buffer(GstPad* pad, GstObject* parent, GstBuffer* buffer);
  static gboolean on_event(GstPad* pad, GstObject* parent, GstEvent* event);
  bool outcome(bool ok, const std::string& subject, std::string& error);

  Owned<GstElement> bin_;
  Owned<GstBus> bus_;
  Owned<GstPad> in_, out_;
  Owned<GstCaps> in_caps_;
  Owned<GstSample> output_;
};

}  // namespace contorno::gst
