// Opens a source on a thread of its own: opening cannot be cancelled, since it may block in a driver or on
// the network, but who waits for it can turn away.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "pipeline/graph/source.h"

namespace contorno {

/// Opens a source; throws as SourceType::make. What it uses must outlive it.
using OpenSource = std::function<std::unique_ptr<Source>()>;

/// The source, or null when `stopped` became true meanwhile. An opening that goes on for 500 ms after that is
/// left to its thread, which ends it when it can; then the process must end without destructors
/// (std::_Exit). Throws what `open` throws, and Error(OutOfMemory) when no thread can be started.
std::unique_ptr<Source> open_unless_stopped(const OpenSource& open, const std::atomic<bool>& stopped);

/// Openings that were left to their threads and have not ended.
int openings_left();

}  // namespace contorno
