#include "plugins/catalog.h"

#include "pipeline/run/push_source.h"
#include "plugins/every_picture.h"
#include "plugins/files/arrays/mask_file.h"
#include "plugins/files/contours/writer.h"
#include "plugins/files/dataset/source.h"
#include "plugins/files/levels/writer.h"
#include "plugins/network.h"
#include "plugins/publish/publish.h"
#include "plugins/synthetic/sources.h"
#include "stages/catalog.h"
#ifdef CONTORNO_HAVE_GSTREAMER
#include "plugins/media/media.h"
#else
#include "plugins/media/left_out.h"
#endif

namespace contorno {
const Catalog& full_catalog() {
  static const SourceType dataset = dataset_source(frame_decoder(other_pictures()));
  static const Catalog catalog = [] {
    Catalog all{.stages = stage_catalog(),
                .sources = {&dataset, &synthetic_source(), &diamond_square_source()},
                .sinks = contour_sinks(),
                .read_mask = [](const std::string& path) {
                  return read_mask_file(path, frame_decoder(other_pictures()));
                }};
    all.stages.push_back(&network_stage());
    all.sinks.push_back(&mipmaps_sink());
    all.sinks.push_back(&publish_sink());
#ifdef CONTORNO_HAVE_GSTREAMER
    all.sources.insert(all.sources.begin(),
                       {&video_source(), &images_source(), &camera_source(), &gst_source(), &test_source()});
    all.sinks.insert(all.sinks.begin(), {&video_sink(), &images_sink(), &preview_sink()});
#else
    all.left_out = media_left_out();
#endif
    return all;
  }();
  return catalog;
}

const Catalog& host_catalog() {
  static const Catalog catalog = [] {
    Catalog all = full_catalog();
    all.sources.push_back(&push_source());
    return all;
  }();
  return catalog;
}

}  // namespace contorno
