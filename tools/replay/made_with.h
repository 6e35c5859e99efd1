// What a record was made with: the graph, as far as results depend on it, is kept beside them, so that
// results of two graphs are not mixed in one record without anybody noticing.
//
//   DIR/made_with.yaml     source, classes and stages with all their parameters, and what is recorded
//
// What the dataset is called stands in it as seen from the record, so that both can be moved together.
// Settings of the pipeline do not change results and are left out.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/replay/frames.h"
#include "tools/replay/record.h"

namespace contorno {

/// The content of that file for a graph that is bound to its source, in a record at `folder`.
std::string made_with(const GraphSpec& graph, const std::vector<RecordedValue>& values,
                      const std::filesystem::path& folder);

/// What becomes of results that a record has of the frames that a run takes.
enum class EarlierResults : std::uint8_t { Refuse, Keep, Remove };

/// Prepares the folder, which exists, for the results of a run that takes `frames` and was made with `text`.
/// Throws Error(CannotCreate) where it has results of these frames that are to be refused, or where results
/// that stay were made with something else; nothing is changed then. A record that does not say what it was
/// made with is taken as it is.
void prepare_record(const std::filesystem::path& folder, const FrameSelection& frames,
                    const std::string& text, EarlierResults earlier);

}  // namespace contorno
