#include "plugins/gst/camera_controls.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/videodev2.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <initializer_list>

#include "base/error.h"
#include "pipeline/graph/param.h"
#include "plugins/media/camera.h"

namespace contorno::gst {
namespace {

constexpr double kExposureUnit = 0.1;  // ms, of V4L2_CID_EXPOSURE_ABSOLUTE

int call(int file, unsigned long request, void* argument) {
  int result = 0;
  do result = ::ioctl(file, request, argument);
  while (result < 0 && errno == EINTR);
  return result;
}

template <std::size_t N>
std::string text_of(const __u8 (&bytes)[N]) {
  const auto* begin = reinterpret_cast<const char*>(bytes);
  return {begin, ::strnlen(begin, N)};
}

/// Lower case with underscores for all that is neither letter nor digit, as v4l2-ctl writes names.
std::string name_of_control(const std::string& words) {
  std::string name;
  for (const char c : words) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0)
      name += static_cast<char>(std::tolower(byte));
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  while (name.ends_with('_')) name.pop_back();
  return name;
}

bool can_be_set(const v4l2_queryctrl& one) {
  constexpr auto kNever =
      V4L2_CTRL_FLAG_DISABLED | V4L2_CTRL_FLAG_READ_ONLY | V4L2_CTRL_FLAG_WRITE_ONLY;  // buttons
  const bool has_value = one.type == V4L2_CTRL_TYPE_INTEGER || one.type == V4L2_CTRL_TYPE_BOOLEAN ||
                         one.type == V4L2_CTRL_TYPE_MENU || one.type == V4L2_CTRL_TYPE_INTEGER_MENU ||
                         one.type == V4L2_CTRL_TYPE_BITMASK;
  return has_value && (one.flags & kNever) == 0;
}

void read_menu(int file, const v4l2_queryctrl& one, CameraControl& control) {
  const bool has_words = one.type == V4L2_CTRL_TYPE_MENU;
  if (!has_words && one.type != V4L2_CTRL_TYPE_INTEGER_MENU) return;
  for (__s32 index = one.minimum; index <= one.maximum; ++index) {
    v4l2_querymenu item{.id = one.id, .index = static_cast<__u32>(index)};
    if (call(file, VIDIOC_QUERYMENU, &item) == 0)
      control.choices.emplace_back(index, has_words ? text_of(item.name) : std::to_string(item.value));
  }
}

const CameraControl* control_of(const std::vector<CameraControl>& controls, std::uint32_t id) {
  const auto same = [id](const CameraControl& one) { return one.id == id; };
  const auto found = std::find_if(controls.begin(), controls.end(), same);
  return found == controls.end() ? nullptr : &*found;
}

std::vector<std::string> names_of(const std::vector<CameraControl>& controls) {
  std::vector<std::string> names;
  for (const CameraControl& one : controls) names.push_back(one.name);
  return names;
}

[[noreturn]] void refuse_absent(const std::string& what, const std::vector<CameraControl>& controls) {
  std::string list;
  for (const CameraControl& one : controls) list += (list.empty() ? "" : ", ") + one.name;
  throw Error(ExitCode::BadConfig,
              fmt::format("{}; the controls that can be set are: {}", what, list.empty() ? "none" : list));
}

void set(int file, const CameraControl& control, std::int64_t value) {
  v4l2_control given{.id = control.id, .value = static_cast<__s32>(value)};
  if (call(file, VIDIOC_S_CTRL, &given) < 0)
    throw Error(ExitCode::Io, fmt::format("the camera does not let {} be set to {}: {}", control.name, value,
                                          std::strerror(errno)));
}

/// Sets the first of the values that the control takes, if the camera has such a control.
void set_if_there(int file, const std::vector<CameraControl>& controls, std::uint32_t id,
                  std::initializer_list<std::int64_t> values) {
  const CameraControl* control = control_of(controls, id);
  if (control == nullptr) return;
  const auto taken =
      std::find_if(values.begin(), values.end(), [control](std::int64_t one) { return control->takes(one); });
  if (taken != values.end()) set(file, *control, *taken);
}

void set_named(int file, const std::vector<CameraControl>& controls, const std::string& name,
               std::int64_t value) {
  const auto control = std::find_if(controls.begin(), controls.end(),
                                    [&name](const CameraControl& one) { return one.name == name; });
  if (control == controls.end()) {
    const std::string meant = nearest(name, names_of(controls));
    refuse_absent(fmt::format("controls: the camera has no control '{}' that can be set{}", name,
                              meant.empty() ? "" : fmt::format(" (did you mean '{}'?)", meant)),
                  controls);
  }
  if (!control->takes(value))
    throw Error(ExitCode::BadConfig,
                fmt::format("controls: {} is {}, allowed is {}", name, value, control->allowed()));
  set(file, *control, value);
}

void set_exposure(int file, const std::vector<CameraControl>& controls, double exposure) {
  const CameraControl* control = control_of(controls, V4L2_CID_EXPOSURE_ABSOLUTE);
  if (control == nullptr)
    refuse_absent("exposure: the camera has no exposure time that can be set", controls);
  const double units = exposure / kExposureUnit;
  if (!(units > static_cast<double>(control->minimum) - 0.5 &&
        units < static_cast<double>(control->maximum) + 0.5))
    throw Error(ExitCode::BadConfig, fmt::format("exposure is {:g} ms, allowed is {:g} to {:g} ms", exposure,
                                                 static_cast<double>(control->minimum) * kExposureUnit,
                                                 static_cast<double>(control->maximum) * kExposureUnit));
  set_if_there(file, controls, V4L2_CID_EXPOSURE_AUTO,
               {V4L2_EXPOSURE_MANUAL, V4L2_EXPOSURE_SHUTTER_PRIORITY});
  const std::int64_t steps =
      std::llround((units - static_cast<double>(control->minimum)) / static_cast<double>(control->step));
  set(file, *control, std::min(control->minimum + steps * control->step, control->maximum));
}

void set_gain(int file, const std::vector<CameraControl>& controls, std::int64_t gain) {
  const CameraControl* control = control_of(controls, V4L2_CID_GAIN);
  if (control == nullptr) control = control_of(controls, V4L2_CID_ANALOGUE_GAIN);
  if (control == nullptr) refuse_absent("gain: the camera has no gain that can be set", controls);
  if (!control->takes(gain))
    throw Error(ExitCode::BadConfig, fmt::format("gain is {}, allowed is {}", gain, control->allowed()));
  set_if_there(file, controls, V4L2_CID_AUTOGAIN, {0});
  set(file, *control, gain);
}

}  // namespace

bool CameraControl::takes(std::int64_t value) const {
  if (!choices.empty())
    return std::any_of(choices.begin(), choices.end(),
                       [value](const auto& one) { return one.first == value; });
  return value >= minimum && value <= maximum && (value - minimum) % step == 0;
}

std::string CameraControl::allowed() const {
  if (choices.empty())
    return fmt::format("{} to {}{}", minimum, maximum, step > 1 ? fmt::format(" in steps of {}", step) : "");
  std::string list;
  for (const auto& [value, meaning] : choices)
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", value, meaning);
  return list;
}

std::vector<CameraControl> camera_controls(int file) {
  std::vector<CameraControl> controls;
  v4l2_queryctrl one{.id = V4L2_CTRL_FLAG_NEXT_CTRL};
  while (call(file, VIDIOC_QUERYCTRL, &one) == 0) {
    if (can_be_set(one)) {
      CameraControl control{.id = one.id,
                            .name = name_of_control(text_of(one.name)),
                            .minimum = one.minimum,
                            .maximum = one.maximum,
                            .step = std::max<std::int64_t>(1, one.step)};
      read_menu(file, one, control);
      controls.push_back(std::move(control));
    }
    one = {.id = one.id | V4L2_CTRL_FLAG_NEXT_CTRL};
  }
  return controls;
}

void set_camera_controls(int file, const CameraParams& params) {
  const auto given = parse_controls(params.controls);
  if (given.empty() && params.exposure <= 0 && params.gain < 0) return;
  const std::vector<CameraControl> controls = camera_controls(file);
  for (const auto& [name, value] : given) set_named(file, controls, name, value);
  if (params.exposure > 0) set_exposure(file, controls, params.exposure);
  if (params.gain >= 0) set_gain(file, controls, params.gain);
}

bool may_send_pictures(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return true;
  v4l2_capability device{};
  const bool is_known = call(file, VIDIOC_QUERYCAP, &device) == 0;
  ::close(file);
  if (!is_known) return true;
  const __u32 has =
      (device.capabilities & V4L2_CAP_DEVICE_CAPS) != 0 ? device.device_caps : device.capabilities;
  return (has & (V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_VIDEO_CAPTURE_MPLANE)) != 0;
}

}  // namespace contorno::gst
