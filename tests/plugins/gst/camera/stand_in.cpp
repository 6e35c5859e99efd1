// GStreamer's plugin video4linux2 for tests: an element v4l2src that needs no camera. The file of this plugin
// has the name of the real one's, so GStreamer takes it in the place of that where GST_PLUGIN_PATH names its
// folder. What stands for a device is a key file at the device's path; of /dev/NAME it is NAME in the folder
// that CONTORNO_DEV names:
//
//   [camera]
//   name=Line camera                    as the driver calls it
//   offers=video/x-raw,format=YUY2,...  caps, known while the camera is open
//   pictures=FOLDER                     with YUY2-640x480-0, YUY2-640x480-1, ...: the bytes of the frames,
//                                       which are sent one after the other, again and again; JPEG-...
//   [opening 2]                         what happens when a process opens it for the second time; what stands
//                                       under [camera] happens each time
//   fails=absent                        or busy, denied: it cannot be opened
//   unplugged_after=10                  frames; reading fails then as when the cable is pulled out
//   silent_after=10                     nothing more comes
//   ends_after=10                       the stream ends
//
// Frames come as fast as they are taken, with the times of the negotiated rate.
#include <gst/base/gstpushsrc.h>
#include <gst/gst.h>
#include <sys/mman.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace {

std::string key_file_of(const std::string& device) {
  const char* folder = std::getenv("CONTORNO_DEV");
  constexpr std::string_view kDevices = "/dev/";
  if (folder == nullptr || !device.starts_with(kDevices)) return device;
  return std::string(folder) + "/" + device.substr(kDevices.size());
}

/// One opening of a camera.
class Opening {
 public:
  /// Null where there is no such device.
  static std::unique_ptr<Opening> of(const std::string& device) {
    std::unique_ptr<Opening> opening(new Opening);
    if (!g_key_file_load_from_file(opening->keys_, key_file_of(device).c_str(), G_KEY_FILE_NONE, nullptr))
      return nullptr;
    static std::mutex mutex;
    static std::map<std::string, int> openings;
    const std::lock_guard lock(mutex);
    opening->group_ = "opening " + std::to_string(++openings[device]);
    return opening;
  }
  Opening(const Opening&) = delete;
  Opening& operator=(const Opening&) = delete;
  ~Opening() { g_key_file_unref(keys_); }

  std::string text(const char* key) const {
    for (const char* group : {group_.c_str(), "camera"})
      if (gchar* value = g_key_file_get_string(keys_, group, key, nullptr)) {
        const std::string text = value;
        g_free(value);
        return text;
      }
    return {};
  }
  bool is_after(const char* key, guint64 frames) const {
    const std::string number = text(key);
    return !number.empty() && frames >= std::stoull(number);
  }

 private:
  Opening() = default;
  GKeyFile* keys_ = g_key_file_new();
  std::string group_;
};

struct State {
  std::string device = "/dev/video0";
  GstStructure* controls = nullptr;
  std::unique_ptr<Opening> opening;
  int file = -1;
  std::vector<std::string> pictures;  // of the format that was negotiated
  guint64 frames = 0;
  int rate_numerator = 0, rate_denominator = 1;
  std::mutex mutex;
  std::condition_variable wake;
  bool is_unlocked = false;
};

struct StandIn {
  GstPushSrc parent;
  State* state;
};
struct StandInClass {
  GstPushSrcClass parent_class;
};
enum : guint { kDevice = 1, kDeviceName, kDeviceFile, kControls };

G_DEFINE_TYPE(StandIn, stand_in, GST_TYPE_PUSH_SRC)

State& state_of(gpointer object) {
  return *static_cast<StandIn*>(object)->state;
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec*) {
  State& state = state_of(object);
  if (id == kDevice) state.device = g_value_get_string(value);
  if (id != kControls) return;
  g_clear_pointer(&state.controls, gst_structure_free);
  state.controls = static_cast<GstStructure*>(g_value_dup_boxed(value));
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec*) {
  const State& state = state_of(object);
  if (id == kDevice) g_value_set_string(value, state.device.c_str());
  if (id == kDeviceName && state.opening) g_value_set_string(value, state.opening->text("name").c_str());
  if (id == kDeviceFile) g_value_set_int(value, state.file);
  if (id == kControls) g_value_set_boxed(value, state.controls);
}

bool open(GstElement* element, State& state) {
  state.opening = Opening::of(state.device);
  const std::string fails = state.opening ? state.opening->text("fails") : "absent";
  const char* device = state.device.c_str();
  if (fails == "absent")
    GST_ELEMENT_ERROR(element, RESOURCE, NOT_FOUND, ("Cannot identify device '%s'.", device),
                      ("system error: No such file or directory"));
  else if (fails == "denied")
    GST_ELEMENT_ERROR(element, RESOURCE, OPEN_READ_WRITE,
                      ("Could not open device '%s' for reading and writing.", device),
                      ("system error: Permission denied"));
  else if (fails == "busy")
    GST_ELEMENT_ERROR(element, RESOURCE, BUSY, ("Device '%s' is busy", device),
                      ("Call to S_FMT failed for YUYV @ 640x480: Device or resource busy"));
  if (!fails.empty()) return false;
  state.file = memfd_create("stand-in camera", MFD_CLOEXEC);
  return state.file >= 0;
}

void close(State& state) {
  state.opening.reset();
  if (state.file >= 0) ::close(state.file);
  state.file = -1;
}

/// The device is open from READY on.
GstStateChangeReturn change_state(GstElement* element, GstStateChange change) {
  State& state = state_of(element);
  if (change == GST_STATE_CHANGE_NULL_TO_READY && !open(element, state)) {
    close(state);
    return GST_STATE_CHANGE_FAILURE;
  }
  const GstStateChangeReturn result = GST_ELEMENT_CLASS(stand_in_parent_class)->change_state(element, change);
  if (change == GST_STATE_CHANGE_READY_TO_NULL) close(state);
  return result;
}

GstCaps* get_caps(GstBaseSrc* source, GstCaps* filter) {
  const State& state = state_of(source);
  GstCaps* caps = state.opening ? gst_caps_from_string(state.opening->text("offers").c_str())
                                : gst_pad_get_pad_template_caps(GST_BASE_SRC_PAD(source));
  if (filter == nullptr) return caps;
  GstCaps* both = gst_caps_intersect_full(filter, caps, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(caps);
  return both;
}

gboolean set_caps(GstBaseSrc* source, GstCaps* caps) {
  State& state = state_of(source);
  const GstStructure* structure = gst_caps_get_structure(caps, 0);
  const char* format = gst_structure_get_string(structure, "format");
  int width = 0, height = 0;
  gst_structure_get_int(structure, "width", &width);
  gst_structure_get_int(structure, "height", &height);
  gst_structure_get_fraction(structure, "framerate", &state.rate_numerator, &state.rate_denominator);
  const std::string pictures = state.opening->text("pictures") + "/" + (format != nullptr ? format : "JPEG") +
                               "-" + std::to_string(width) + "x" + std::to_string(height) + "-";
  state.pictures.clear();
  for (;;) {
    gchar* bytes = nullptr;
    gsize count = 0;
    const std::string path = pictures + std::to_string(state.pictures.size());
    if (!g_file_get_contents(path.c_str(), &bytes, &count, nullptr)) break;
    state.pictures.emplace_back(bytes, count);
    g_free(bytes);
  }
  if (state.pictures.empty())
    GST_ELEMENT_ERROR(source, RESOURCE, SETTINGS, ("The stand-in has no picture %s0", pictures.c_str()),
                      (NULL));
  return !state.pictures.empty();
}

GstFlowReturn create(GstPushSrc* source, GstBuffer** buffer) {
  State& state = state_of(source);
  if (state.opening->is_after("ends_after", state.frames)) return GST_FLOW_EOS;
  if (state.opening->is_after("unplugged_after", state.frames)) {
    GST_ELEMENT_ERROR(source, RESOURCE, READ, (NULL), ("poll error 1: No such device (19)"));
    return GST_FLOW_ERROR;
  }
  if (state.opening->is_after("silent_after", state.frames)) {
    std::unique_lock lock(state.mutex);
    state.wake.wait(lock, [&state] { return state.is_unlocked; });
    return GST_FLOW_FLUSHING;
  }
  const std::string& picture = state.pictures[state.frames % state.pictures.size()];
  *buffer = gst_buffer_new_memdup(picture.data(), picture.size());
  const auto time = [&state](guint64 frame) {
    return state.rate_numerator > 0 ? gst_util_uint64_scale(frame * GST_SECOND, state.rate_denominator,
                                                            static_cast<guint64>(state.rate_numerator))
                                    : 0;
  };
  GST_BUFFER_PTS(*buffer) = time(state.frames);
  GST_BUFFER_DURATION(*buffer) = time(state.frames + 1) - time(state.frames);
  ++state.frames;
  return GST_FLOW_OK;
}

gboolean start(GstBaseSrc* source) {
  state_of(source).frames = 0;
  return TRUE;
}

gboolean unlock(GstBaseSrc* source) {
  State& state = state_of(source);
  const std::lock_guard lock(state.mutex);
  state.is_unlocked = true;
  state.wake.notify_all();
  return TRUE;
}

gboolean unlock_stop(GstBaseSrc* source) {
  State& state = state_of(source);
  const std::lock_guard lock(state.mutex);
  state.is_unlocked = false;
  return TRUE;
}

void finalize(GObject* object) {
  State& state = state_of(object);
  close(state);
  g_clear_pointer(&state.controls, gst_structure_free);
  delete &state;
  G_OBJECT_CLASS(stand_in_parent_class)->finalize(object);
}

void install_properties(GObjectClass* object_class) {
  constexpr auto kRead = static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  constexpr auto kBoth = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_property(
      object_class, kDevice,
      g_param_spec_string("device", "Device", "Device location", "/dev/video0", kBoth));
  g_object_class_install_property(
      object_class, kDeviceName, g_param_spec_string("device-name", "Name", "Name of the device", "", kRead));
  g_object_class_install_property(
      object_class, kDeviceFile,
      g_param_spec_int("device-fd", "File", "File descriptor of the device", -1, G_MAXINT, -1, kRead));
  g_object_class_install_property(
      object_class, kControls,
      g_param_spec_boxed("extra-controls", "Controls", "Extra controls", GST_TYPE_STRUCTURE, kBoth));
}

void stand_in_class_init(StandInClass* type_class) {
  GObjectClass* object_class = G_OBJECT_CLASS(type_class);
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  object_class->finalize = finalize;
  install_properties(object_class);
  GstElementClass* element_class = GST_ELEMENT_CLASS(type_class);
  element_class->change_state = change_state;
  gst_element_class_set_static_metadata(element_class, "Stand-in camera", "Source/Video",
                                        "Sends what a key file says, as a camera would",
                                        "The contorno authors");
  gst_element_class_add_pad_template(
      element_class, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS,
                                          gst_caps_from_string("video/x-raw;image/jpeg;video/x-bayer")));
  GstBaseSrcClass* source_class = GST_BASE_SRC_CLASS(type_class);
  source_class->get_caps = get_caps;
  source_class->set_caps = set_caps;
  source_class->start = start;
  source_class->unlock = unlock;
  source_class->unlock_stop = unlock_stop;
  GST_PUSH_SRC_CLASS(type_class)->create = create;
}

void stand_in_init(StandIn* object) {
  object->state = new State;
  gst_base_src_set_live(GST_BASE_SRC(object), TRUE);
  gst_base_src_set_format(GST_BASE_SRC(object), GST_FORMAT_TIME);
}

gboolean register_elements(GstPlugin* plugin) {
  return gst_element_register(plugin, "v4l2src", GST_RANK_PRIMARY, stand_in_get_type());
}

}  // namespace

#define PACKAGE "contorno"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, video4linux2, "A camera for tests", register_elements,
                  "1", "MIT/X11", "contorno", "https://example.org")
