// What every GStreamer part begins with: GStreamer started, owning pointers, and elements made with a helpful
// error. Bins own the elements that are made in them. ensure_init may be called from any thread. Only
// plugins/gst includes this.
#pragma once

#include <gst/gst.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

namespace contorno::gst {

struct Release {
  void operator()(GstSample* p) const { gst_sample_unref(p); }
  void operator()(GstBuffer* p) const { gst_buffer_unref(p); }
  void operator()(GstCaps* p) const { gst_caps_unref(p); }
  void operator()(GstMessage* p) const { gst_message_unref(p); }
  void operator()(GstEvent* p) const { gst_event_unref(p); }
  void operator()(GstQuery* p) const { gst_query_unref(p); }
  void operator()(GError* p) const { g_error_free(p); }
  void operator()(gchar* p) const { g_free(p); }
  template <class T>
  void operator()(T* object) const {
    gst_object_unref(object);
  }
};
template <class T>
using Owned = std::unique_ptr<T, Release>;

/// gst_init, once. Every entry point calls it. Throws Error(Unavailable) when GStreamer does not start.
void ensure_init();

/// The Debian package that brings `element`, or an empty view when it is not known.
std::string_view package_of(std::string_view element);
bool has_element(const char* name);
/// `error` as it is; but in a process that may take little memory (ulimit -v), into which plugins may not
/// fit, the sentence says so, and Unavailable becomes OutOfMemory.
Error blaming_memory(const Error& error);
/// Throws Error(Unavailable) that names the element and its package, unless it is installed.
void require_element(const char* name);

/// Throws Error(OutOfMemory) where a process that may take little memory has too little left for libav's
/// decoders, which end the process with a signal when an allocation fails.
void require_memory_for_decoding();

/// A new element inside `bin`, which owns it. Throws Error(Unavailable) that names the element and its
/// package.
GstElement* make_element(GstBin* bin, const char* name);
/// Links in order; throws InternalError, because all our chains fit by construction.
void link(std::initializer_list<GstElement*> chain);

}  // namespace contorno::gst
