// The controls of a camera, by the calls of Video4Linux on its open file: exposure, gain and whatever else
// its driver has. Only plugins/gst includes this.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "plugins/media/params.h"

namespace contorno::gst {

/// A control that can be set. Numbers are the driver's.
struct CameraControl {
  std::uint32_t id = 0;
  std::string name;  ///< "exposure_time_absolute", as v4l2-ctl lists it
  std::int64_t minimum = 0, maximum = 0, step = 1;
  std::vector<std::pair<std::int64_t, std::string>> choices;  ///< values of a menu and what they mean

  bool takes(std::int64_t value) const;
  std::string allowed() const;  ///< "0 to 255", "1 (Manual Mode), 3 (Aperture Priority Mode)"
};
/// Those of a camera that is open as `file`, in the driver's order; none where the file is no camera.
std::vector<CameraControl> camera_controls(int file);

/// Sets `controls`, then exposure and gain, each by hand and no longer automatic. What the parameters leave
/// as it is, is not looked at. Throws Error(BadConfig) for a control that the camera does not have and for a
/// value that it does not take, with what is allowed; Error(Io) when the driver refuses.
void set_camera_controls(int file, const CameraParams& params);

/// False for a node of Video4Linux of which its driver says that it has no pictures, such as the second one
/// of a webcam, which has the data beside them. True also where nobody can say.
bool may_send_pictures(const std::string& path);

}  // namespace contorno::gst
