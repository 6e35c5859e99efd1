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

/// In what two contents of that file differ, a sentence each: "contour_assembly had 'min_points: 8', and has
/// 'min_points: 12' now", "stage 'simplify' is new". In the order of the graph before; empty: in nothing.
std::vector<std::string> graph_differences(const std::string& before, const std::string& now);
/// graph_differences between what a record was made with and a graph that is bound to its source; empty where
/// the record does not say what it was made with.
std::vector<std::string> differences_from_record(const std::filesystem::path& folder, const GraphSpec& graph,
                                                 const std::vector<RecordedValue>& values);

/// What a run does with results that a record has already of the frames that it takes.
enum class EarlierResults : std::uint8_t { Refuse, Keep, Remove };

/// The files of `frames` in a record, sorted: of values that it says it has, or that the graph has, and of
/// failures. Throws Error(CannotCreate) for one of another value.
std::vector<std::filesystem::path> results_of(const std::filesystem::path& folder,
                                              const FrameSelection& frames,
                                              const std::vector<RecordedValue>& values);
/// Removes them from the record in `folder`.
void remove_results(const std::filesystem::path& folder, const std::vector<std::filesystem::path>& files);

/// Prepares the folder, which exists, for the results of a run that takes `frames` and was made with `text`.
/// Says what is removed before it goes: results alone, and never by a link. Throws Error(CannotCreate) where
/// the folder has results of these frames that are to be refused, or where results that stay were made with
/// something else, and Error(BadData) where a file is no result; nothing is changed then. A record that does
/// not say what it was made with is taken as it is.
void prepare_record(const std::filesystem::path& folder, const FrameSelection& frames,
                    const std::string& text, const std::vector<RecordedValue>& values,
                    EarlierResults earlier);

}  // namespace contorno
