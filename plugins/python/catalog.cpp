// What graphs of Python may be made of: everything of this build, and the source `push`.
#include "stages/catalog.h"
#include "plugins/every_picture.h"
#include "plugins/files/arrays/mask_file.h"
#include "plugins/files/contours/writer.h"
#include "plugins/files/dataset/source.h"
#include "plugins/files/levels/writer.h"
#include "plugins/python/pipeline_run.h"
#include "plugins/synthetic/sources.h"
#ifdef CONTORNO_HAVE_GSTREAMER
#include "plugins/gst/media.h"
#else
#include "plugins/gst/left_out.h"
#endif

namespace contorno::python {
namespace {

struct PushParams {};

SourceType push_source() {
  return {.name = "push",
          .summary = "Frames and maps that the program pushes.",
          .params = declare(ParamList<PushParams>()),
          .example = "source: {type: push}\n",
          .make = [](const ParamSet&) -> std::unique_ptr<Source> {
            throw Error(ExitCode::BadConfig,
                        "the graph's source is 'push': give it frames with push(), or an input");
          }};
}

}  // namespace

const Catalog& python_catalog() {
  static const SourceType dataset = dataset_source(frame_decoder(other_pictures()));
  static const SourceType push = push_source();
  static const Catalog catalog = [] {
    set_element_mask_reader(
        [](const std::string& path) { return read_mask_file(path, frame_decoder(other_pictures())); });
    Catalog all{.stages = stage_catalog(),
                .sources = {&dataset, &synthetic_source(), &diamond_square_source(), &push},
                .sinks = contour_sinks()};
    all.sinks.push_back(&mipmaps_sink());
#ifdef CONTORNO_HAVE_GSTREAMER
    all.sources.insert(all.sources.begin(),
                       {&video_source(), &images_source(), &camera_source(), &test_source()});
    all.sinks.insert(all.sinks.begin(), {&video_sink(), &images_sink(), &preview_sink()});
#else
    all.left_out = media_left_out();
#endif
    return all;
  }();
  return catalog;
}

}  // namespace contorno::python
