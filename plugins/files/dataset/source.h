// The source `dataset`: class maps from .npy, .npz, .tif, .h5 and .zarr, with or without the frames that they
// were computed from.
//
//   FOLDER/maps/00000.npy ...     or FOLDER/*.npy, or one file; in natural order of names
//   FOLDER/frames/00000.png ...   matched by the same name without extension, or the same leading number
//
// A file holds one frame's maps, C x H x W or H x W x C as declared, H x W for one class, or a sequence of
// them with one side more in front (then without frames). Each may have its own size: the format then
// changes. A map without its frame, and a frame without its map, is a frame that failed.
#pragma once

#include "pipeline/graph/source.h"
#include "plugins/files/pictures/decoder.h"

namespace contorno {

/// The declaration. Without a decoder, folders with frames are refused unless `frames: false` is set.
SourceType dataset_source(FrameDecoder decoder);

}  // namespace contorno
