// The driver of a camera for a program that is started with this library preloaded: the calls of Video4Linux
// that ask what a node has, which controls there are, and set them, are answered for any file as by a webcam;
// a node whose key file (stand_in.cpp) has pictures=none sends none. Each control that is set is a line
// NAME=VALUE of the file that STAND_IN_CONTROLS names. The exposure time cannot be set while the exposure is
// automatic, and it is at the start; the driver refuses the longest zoom.
#include <linux/videodev2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace {

struct Control {
  __u32 id, type;
  const char* name;
  int minimum, maximum, step, value;
  __u32 flags = 0;
};
// Sorted by their ids, which is the order in which a driver lists them.
Control controls[] = {
    {V4L2_CID_BRIGHTNESS, V4L2_CTRL_TYPE_INTEGER, "Brightness", -64, 64, 1, 0},
    {V4L2_CID_AUTO_WHITE_BALANCE, V4L2_CTRL_TYPE_BOOLEAN, "White Balance, Automatic", 0, 1, 1, 1},
    {V4L2_CID_GAIN, V4L2_CTRL_TYPE_INTEGER, "Gain", 0, 255, 1, 16},
    {V4L2_CID_HUE_AUTO, V4L2_CTRL_TYPE_BOOLEAN, "Hue, Automatic", 0, 1, 1, 1, V4L2_CTRL_FLAG_DISABLED},
    {V4L2_CID_EXPOSURE_AUTO, V4L2_CTRL_TYPE_MENU, "Auto Exposure", 0, 3, 1, V4L2_EXPOSURE_APERTURE_PRIORITY},
    {V4L2_CID_EXPOSURE_ABSOLUTE, V4L2_CTRL_TYPE_INTEGER, "Exposure Time, Absolute", 3, 2047, 1, 250},
    {V4L2_CID_ZOOM_ABSOLUTE, V4L2_CTRL_TYPE_INTEGER, "Zoom, Absolute", 100, 500, 10, 100},
    {V4L2_CID_PRIVACY, V4L2_CTRL_TYPE_BOOLEAN, "Privacy", 0, 1, 1, 0, V4L2_CTRL_FLAG_READ_ONLY},
};

Control* find(__u32 id) {
  const auto same = [id](const Control& control) { return control.id == id; };
  Control* found = std::find_if(std::begin(controls), std::end(controls), same);
  return found == std::end(controls) ? nullptr : found;
}

int refuse(int error) {
  errno = error;
  return -1;
}

int query(v4l2_queryctrl& asked) {
  Control* found = find(asked.id);
  if ((asked.id & V4L2_CTRL_FLAG_NEXT_CTRL) != 0) {
    const __u32 last = asked.id & ~V4L2_CTRL_FLAG_NEXT_CTRL;
    found = std::find_if(std::begin(controls), std::end(controls),
                         [last](const Control& control) { return control.id > last; });
    if (found == std::end(controls)) found = nullptr;
  }
  if (found == nullptr) return refuse(EINVAL);
  asked = {.id = found->id,
           .type = found->type,
           .minimum = found->minimum,
           .maximum = found->maximum,
           .step = found->step,
           .default_value = found->value,
           .flags = found->flags};
  std::strncpy(reinterpret_cast<char*>(asked.name), found->name, sizeof asked.name - 1);
  return 0;
}

int query_menu(v4l2_querymenu& asked) {
  const char* name = asked.index == V4L2_EXPOSURE_MANUAL              ? "Manual Mode"
                     : asked.index == V4L2_EXPOSURE_APERTURE_PRIORITY ? "Aperture Priority Mode"
                                                                      : nullptr;
  if (asked.id != V4L2_CID_EXPOSURE_AUTO || name == nullptr) return refuse(EINVAL);
  std::strncpy(reinterpret_cast<char*>(asked.name), name, sizeof asked.name - 1);
  return 0;
}

int set(const v4l2_control& given) {
  Control* control = find(given.id);
  if (control == nullptr) return refuse(EINVAL);
  if (given.value < control->minimum || given.value > control->maximum) return refuse(ERANGE);
  if (given.id == V4L2_CID_EXPOSURE_ABSOLUTE && find(V4L2_CID_EXPOSURE_AUTO)->value != V4L2_EXPOSURE_MANUAL)
    return refuse(EACCES);
  if (given.id == V4L2_CID_ZOOM_ABSOLUTE && given.value == control->maximum) return refuse(EBUSY);
  control->value = given.value;
  if (std::FILE* file = std::fopen(std::getenv("STAND_IN_CONTROLS"), "ae")) {
    std::fprintf(file, "%s=%d\n", control->name, given.value);
    std::fclose(file);
  }
  return 0;
}

/// What a node is: its key file says so of one that has no pictures.
int tell(int file, v4l2_capability& device) {
  char text[4096] = {};
  if (pread(file, text, sizeof text - 1, 0) < 0) return refuse(ENOTTY);
  const __u32 has =
      std::strstr(text, "\npictures=none\n") == nullptr ? V4L2_CAP_VIDEO_CAPTURE : V4L2_CAP_META_CAPTURE;
  device = {.capabilities = V4L2_CAP_DEVICE_CAPS | V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_META_CAPTURE,
            .device_caps = has};
  return 0;
}

}  // namespace

extern "C" int ioctl(int file, unsigned long request, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, request);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  if (request == VIDIOC_QUERYCAP) return tell(file, *static_cast<v4l2_capability*>(argument));
  if (request == VIDIOC_QUERYCTRL) return query(*static_cast<v4l2_queryctrl*>(argument));
  if (request == VIDIOC_QUERYMENU) return query_menu(*static_cast<v4l2_querymenu*>(argument));
  if (request == VIDIOC_S_CTRL) return set(*static_cast<const v4l2_control*>(argument));
  return static_cast<int>(syscall(SYS_ioctl, file, request, argument));
}
