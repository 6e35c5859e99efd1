#include "plugins/media/camera.h"
#include "tests/plugins/gst/helpers.h"

using namespace contorno;
using namespace contorno::test;

namespace {

/// A folder in the place of /dev, with nodes and the links that udev makes.
struct Devices : Folder {
  void node(const std::string& name) const { spill(*this / name, ""); }
  void link(const std::string& kind, const std::string& name, const std::string& target) const {
    const fs::path folder = path() / "v4l" / kind;
    fs::create_directories(folder);
    fs::create_symlink("../../" + target, folder / name);
  }
  std::string by_id(const std::string& name) const { return *this / ("v4l/by-id/" + name); }
  std::string by_path(const std::string& name) const { return *this / ("v4l/by-path/" + name); }
};

std::string refusal(const Devices& devices, const std::string& device, ExitCode code) {
  std::string sentence;
  CHECK(contorno::test::code_of([&] { camera_path(device, devices.path()); }, &sentence) == code);
  return sentence;
}

}  // namespace

TEST_CASE("cameras are listed by their numbers, with the names that udev gives them") {
  const Devices devices;
  for (const char* name : {"video10", "video2", "video", "video3a", "vbi0", "v4l-subdev0"})
    devices.node(name);
  devices.link("by-id", "usb-046d_HD_Pro_Webcam_C920_4F2A60DF-video-index0", "video10");
  devices.link("by-path", "platform-fe801000.csi-video-index0", "video2");
  devices.link("by-path", "pci-0000:00:14.0-usb-0:2:1.0-video-index0", "video10");
  devices.link("by-id", "usb-gone_1-video-index0", "video77");
  const std::vector<CameraNode> nodes = camera_nodes(devices.path());
  REQUIRE(nodes.size() == 2);
  CHECK(nodes[0].path == devices / "video2");
  CHECK(nodes[0].serial == "");
  CHECK(nodes[0].bus_path == "platform-fe801000.csi");
  CHECK(nodes[1].path == devices / "video10");
  CHECK(nodes[1].serial == "046d_HD_Pro_Webcam_C920_4F2A60DF");
  CHECK(nodes[1].bus_path == "pci-0000:00:14.0-usb-0:2:1.0");
  CHECK(camera_nodes(devices.path() / "none").empty());
  CHECK(list_of_cameras(devices.path() / "none") == "none");
}

TEST_CASE("of the nodes of one camera the first is meant, whatever name it is called by") {
  const Devices devices;
  devices.node("video4");
  devices.node("video5");
  // As udev of newer systems names them: two names of one place.
  for (const char* bus : {"pci-0000:00:14.0-usb-0:2:1.0", "pci-0000:00:14.0-usbv2-0:2:1.0"})
    for (const int index : {0, 1})
      devices.link("by-path", bus + ("-video-index" + std::to_string(index)),
                   "video" + std::to_string(5 - index));
  for (const int index : {0, 1})
    devices.link("by-id", "usb-Maker_Cam-7_AB-12-video-index" + std::to_string(index),
                 "video" + std::to_string(5 - index));
  const std::string first = devices.by_id("usb-Maker_Cam-7_AB-12-video-index0");
  for (const char* name :
       {"AB-12", "Maker_Cam-7_AB-12", "usb-Maker_Cam-7_AB-12", "usb-Maker_Cam-7_AB-12-video-index0"})
    CHECK(camera_path(name, devices.path()) == first);
  CHECK(camera_path("usb-Maker_Cam-7_AB-12-video-index1", devices.path()) ==
        devices.by_id("usb-Maker_Cam-7_AB-12-video-index1"));
  CHECK(camera_path("usb-0:2:1.0", devices.path()) ==
        devices.by_path("pci-0000:00:14.0-usb-0:2:1.0-video-index0"));
  CHECK(fs::canonical(camera_path("0:2:1.0", devices.path())) == fs::canonical(devices / "video5"));
}

TEST_CASE("paths and numbers of nodes are taken as they are") {
  const Devices devices;
  CHECK(camera_path("/dev/video3", devices.path()) == "/dev/video3");
  CHECK(camera_path("./video3", devices.path()) == "./video3");
  CHECK(camera_path("video3", devices.path()) == devices / "video3");
}

TEST_CASE("a name that no camera or more than one has is refused with those that there are") {
  const Devices devices;
  devices.node("video0");
  devices.node("video2");
  devices.link("by-id", "usb-Maker_A_Cam-video-index0", "video0");
  devices.link("by-id", "usb-Maker_B_Cam-video-index0", "video2");
  CHECK(refusal(devices, "am", ExitCode::MissingInput) ==
        "camera am: no camera has this serial number or bus path (there are: " + (devices / "video0") +
            " (serial number Maker_A_Cam), " + (devices / "video2") + " (serial number Maker_B_Cam))");
  CHECK(refusal(devices, "", ExitCode::MissingInput).find("no camera has") != std::string::npos);
  CHECK(refusal(devices, "Cam", ExitCode::BadConfig) ==
        "camera Cam: several cameras are called so, allowed is a name of one: usb-Maker_A_Cam-video-index0, "
        "usb-Maker_B_Cam-video-index0");
}

TEST_CASE("controls are names and integers") {
  using Controls = std::vector<std::pair<std::string, std::int64_t>>;
  CHECK(parse_controls("").empty());
  CHECK(parse_controls(" gain=5,\tzoom=-7 \n") == Controls{{"gain", 5}, {"zoom", -7}});
  for (const char* wrong :
       {"gain", "gain=", "=5", "gain=5.5", "gain=0x5", "gain=99999999999999999999", "gain = 5"})
    CHECK(contorno::test::code_of([&] { parse_controls(wrong); }) == ExitCode::BadConfig);
}
