// What is seen of the threads of a camera, for who judges whether they get on (ProgressJudge).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/shared/work_sign.h"

namespace contorno {

enum class ThreadRole : std::uint8_t { Reader, Launcher, Finisher, Writer };

/// The name of a thread in lists of threads (top -H): "launcher north", or "launcher" of the only camera.
inline std::string thread_name(const char* role, const std::string& camera) {
  return camera.empty() ? role : std::string(role) + ' ' + camera;
}

/// What is seen of a thread.
struct ThreadSigns {
  ThreadRole role = ThreadRole::Reader;
  std::string_view sink{};  ///< name of the sink, for a writer
  Activity activity = Activity::Gone;
  std::uint64_t steps = 0;
  bool has_input = false;  ///< there is a frame that it could take
};

/// A camera that runs has the same threads, in the same order, at every look.
struct CameraThreads {
  std::string_view camera{};  ///< empty: the only one
  std::vector<ThreadSigns> threads{};
};

}  // namespace contorno
