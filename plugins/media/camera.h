// Cameras by their names, without opening them: the nodes of Video4Linux in the folder of devices, and the
// links by which udev names each by its serial number and by where it is plugged in. Functions without state,
// safe from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace contorno {

/// The folder in which cameras are looked for: /dev, or the one that the environment variable CONTORNO_DEV
/// names (the devices of a host, as a container sees them).
std::filesystem::path device_folder();

/// A node videoN of the folder of devices.
struct CameraNode {
  std::string path;      ///< "/dev/video0"
  std::string serial;    ///< "046d_HD_Pro_Webcam_C920_4F2A60DF"; empty: udev gives none
  std::string bus_path;  ///< "pci-0000:00:14.0-usb-0:2:1.0"; empty: udev gives none
};
/// All nodes, by their numbers. A camera may have several, not all of which send pictures.
std::vector<CameraNode> camera_nodes(const std::filesystem::path& devices);

/// The path of the camera that `device` names: a path, which comes back as it is; a node (video0); or a link
/// in v4l/by-id or v4l/by-path below `devices` by its name, whole or without its ending -video-indexN, or by
/// the end of that behind an underscore or a hyphen: a serial number (4F2A60DF), a bus path (usb-0:2:1.0).
/// What is named by a link comes back as the path of the link, which stays the same where the camera gets
/// another number; of the links of one camera it is the one with the lowest index. Throws Error(MissingInput)
/// when no camera is named so, Error(BadConfig) when several are; the sentence lists them.
std::string camera_path(const std::string& device, const std::filesystem::path& devices);

/// "/dev/video0 (serial number ..., bus path ...), ..." or "none".
std::string list_of_cameras(const std::filesystem::path& devices);

/// The parts of "NAME=VALUE NAME=VALUE", with blanks or commas between them. Throws Error(BadConfig) for what
/// is not written so and for values that are no integers.
std::vector<std::pair<std::string, std::int64_t>> parse_controls(const std::string& text);

}  // namespace contorno
