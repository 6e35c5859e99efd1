// A chain of elements that works in the calling thread: a buffer is pushed in and what comes out has come
// when push() returns. No thread, no queue and no waiting, so one image costs its decoding or encoding and
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
  /// Links the elements between our two pads and starts them.
  void start(std::initializer_list<GstElement*> elements);

  /// Sends `buffer` (takes it) under `caps` through the chain. False with a sentence when an element fails,
  /// and the chain is then of no more use. True with no output() when elements swallowed it.
  bool push(GstCaps* caps, GstBuffer* buffer, const std::string& subject, std::string& error);
  /// Ends the stream, for elements that wait for more; then as push(). The chain is of no more use.
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
