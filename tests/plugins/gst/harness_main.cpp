// contorno_gst_tests: what needs GStreamer's library in the process that tests. It is a program of its own,
// because that library brings libunwind, by which exceptions unwind in another way.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <gst/gst.h>

#include <cstdio>

int main(int argc, char** argv) {
  gst_init(nullptr, nullptr);
  GstPlugin* const plugin = gst_plugin_load_file(CONTORNO_GST_PLUGIN, nullptr);
  if (plugin == nullptr) {
    std::fprintf(stderr, "cannot load %s\n", CONTORNO_GST_PLUGIN);
    return 1;
  }
  gst_object_unref(plugin);
  const int result = doctest::Context(argc, argv).run();
  gst_deinit();  // GST_TRACERS=leaks says here what is left
  return result;
}
