#include "plugins/gst/video_input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>

#include "plugins/files/pictures/unread.h"
#include "plugins/files/shared/open_file.h"
#include "plugins/media/login.h"

namespace contorno::gst {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kTcp = "tcp://", kShm = "shm://", kFile = "file:", kStandardInput = "-";

Error missing(const std::string& path, std::string_view why) {
  std::error_code ignored;
  return {ExitCode::MissingInput,
          fmt::format("{}: {} (looked for from '{}')", path, why, fs::current_path(ignored).string())};
}

/// Demuxers ask the element that fetches the bytes for the duration before they tell their own. These answer
/// that they do not know it, which the demuxer hands on: now they do not answer.
void leave_duration_to_demuxer(GstElement* source) {
  const Owned<GstPad> pad(gst_element_get_static_pad(source, "src"));
  if (!pad) return;
  const auto drop = [](GstPad*, GstPadProbeInfo* info, gpointer) {
    GstQuery* query = GST_PAD_PROBE_INFO_QUERY(info);
    if (GST_QUERY_TYPE(query) != GST_QUERY_DURATION) return GST_PAD_PROBE_OK;
    GstFormat format = GST_FORMAT_UNDEFINED;
    gst_query_parse_duration(query, &format, nullptr);
    return format == GST_FORMAT_TIME ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
  };
  gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_QUERY_UPSTREAM, drop, nullptr, nullptr);
}

using Patches = std::vector<ShownPart::Patch>;

/// Puts the patches that lie in it into a piece of the file that is on its way to the demuxer.
GstPadProbeReturn on_bytes(GstPad*, GstPadProbeInfo* info, gpointer patches) {
  GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  if (buffer == nullptr) return GST_PAD_PROBE_OK;
  const bool pulled = (info->type & GST_PAD_PROBE_TYPE_PULL) != 0;
  const guint64 begin = pulled ? GST_PAD_PROBE_INFO_OFFSET(info) : GST_BUFFER_OFFSET(buffer);
  const guint64 end = begin + gst_buffer_get_size(buffer);
  for (const auto& [at, bytes] : *static_cast<const Patches*>(patches)) {
    const guint64 from = std::max<guint64>(begin, at), to = std::min<guint64>(end, at + bytes.size());
    if (from >= to) continue;
    buffer = gst_buffer_make_writable(buffer);
    GST_PAD_PROBE_INFO_DATA(info) = buffer;
    gst_buffer_fill(buffer, from - begin, bytes.data() + (from - at), to - from);
  }
  return GST_PAD_PROBE_OK;
}

/// Called for the element that fetches the bytes of a file; the user data says which bytes are changed.
void patch_source(GstElement*, GstElement* source, gpointer patches) {
  const Owned<GstPad> pad(gst_element_get_static_pad(source, "src"));
  constexpr auto kBytes = static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_PUSH |
                                                       GST_PAD_PROBE_TYPE_PULL);
  if (pad)
    gst_pad_add_probe(pad.get(), kBytes, on_bytes, new Patches(*static_cast<const Patches*>(patches)),
                      [](gpointer own) { delete static_cast<Patches*>(own); });
}

/// Called for the element that fetches a stream; its latency in ms comes as user data.
void on_source_setup(GstElement*, GstElement* source, gpointer latency) {
  leave_duration_to_demuxer(source);
  if (g_object_class_find_property(G_OBJECT_GET_CLASS(source), "latency"))
    g_object_set(source, "latency", GPOINTER_TO_UINT(latency), nullptr);
  if (g_object_class_find_property(G_OBJECT_GET_CLASS(source), "drop-on-latency"))
    g_object_set(source, "drop-on-latency", TRUE, nullptr);
}

/// Called for the element that fetches a stream; who logs in comes as user data.
void log_in(GstElement*, GstElement* source, gpointer login) {
  const auto& [user, password, mechanism] = *static_cast<const Credentials*>(login);
  if (g_object_class_find_property(G_OBJECT_GET_CLASS(source), "user-pw"))
    g_object_set(source, "user-id", user.c_str(), "user-pw", password.c_str(), nullptr);
}

/// Whether a decodebin looks for an element that goes on from this pad: not for what a demuxer gives beside
/// the pictures. Sound would be decoded for nobody.
gboolean goes_on(GstElement*, GstPad* pad, GstCaps* caps, gpointer) {
  const Owned<GstPad> real(gst_ghost_pad_get_target(GST_GHOST_PAD(pad)));
  const Owned<GstElement> element(real ? gst_pad_get_parent_element(real.get()) : nullptr);
  GstElementFactory* factory = element ? gst_element_get_factory(element.get()) : nullptr;
  if (!factory || !gst_element_factory_list_is_type(factory, GST_ELEMENT_FACTORY_TYPE_DEMUXER)) return TRUE;
  return g_str_has_prefix(gst_structure_get_name(gst_caps_get_structure(caps, 0)), "audio/") ? FALSE : TRUE;
}

/// Software decoders give the same bytes on every machine. Other streams, sound for example, stay unlinked.
void set_up_decoding(GstElement* decode) {
  const Owned<GstCaps> video_only(gst_caps_new_empty_simple("video/x-raw"));
  g_object_set(decode, "caps", video_only.get(), "force-sw-decoders", TRUE, nullptr);
  g_signal_connect(decode, "autoplug-continue", G_CALLBACK(goes_on), nullptr);
}

}  // namespace

/// The reading end of a pipe, closed when nobody needs it any more.
struct VideoInput::Descriptor {
  int number = -1;
  ~Descriptor() {
    if (number > STDIN_FILENO) ::close(number);
  }
};

VideoInput::VideoInput(const std::string& location, const VideoInputOptions& options) : options_(options) {
  ensure_init();
  if (location == kStandardInput) {
    kind_ = Kind::Pipe;
    address_ = location;
    pipe_ = std::make_shared<Descriptor>();
    pipe_->number = STDIN_FILENO;
  } else if (location.starts_with(kTcp)) {
    set_tcp(location);
  } else if (location.starts_with(kShm)) {
    kind_ = Kind::SharedMemory;
    address_ = location.substr(kShm.size());
    std::error_code ignored;
    if (!fs::is_socket(address_, ignored)) throw missing(address_, "there is no such socket");
    if (options_.caps.empty())
      throw Error(ExitCode::BadConfig,
                  fmt::format("{}: say in 'caps' what lies there, for example "
                              "'video/x-raw,format=RGB,width=640,height=480,framerate=30/1'",
                              location));
  } else if (gst_uri_is_valid(location.c_str()) && !location.starts_with(kFile)) {
    address_ = location;
  } else if (location.starts_with(kFile)) {
    const Owned<gchar> path(g_filename_from_uri(location.c_str(), nullptr, nullptr));
    if (!path) throw Error(ExitCode::MissingInput, fmt::format("'{}' is not the URI of a file", location));
    set_path(path.get());
  } else {
    set_path(location);
  }
}

void VideoInput::set_path(const std::string& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (!fs::exists(status)) throw missing(path, "there is no such file");
  if (fs::is_directory(status))
    throw missing(path, "is a folder; the source 'images' reads folders of pictures");
  if (fs::is_fifo(status)) {
    kind_ = Kind::Pipe;
    address_ = path;
    pipe_ = std::make_shared<Descriptor>();
    return;
  }
  if (!fs::is_regular_file(status)) throw missing(path, "is neither a regular file nor a pipe");
  refuse_unread(path);
  const Owned<gchar> uri(gst_filename_to_uri(path.c_str(), nullptr));
  if (!uri) throw missing(path, "cannot be written as a URI");
  address_ = uri.get();
  file_ = path;
  const ContainerFacts facts = container_facts(path);
  complete_gif(path, facts);
  if (facts.shown) patches_ = facts.shown->patches;
}

/// GStreamer gives no frame of a GIF that is cut off: it reads a copy that ends behind the last whole frame.
void VideoInput::complete_gif(const std::string& path, const ContainerFacts& facts) {
  if (facts.kind != ContainerKind::Gif || !facts.cut_off || facts.frames == 0) return;
  copy_ = std::make_shared<Descriptor>();
  copy_->number = ::memfd_create("gif", MFD_CLOEXEC);
  const OpenFile from(path);
  std::uint64_t left = facts.whole_bytes;
  while (left > 0 && copy_->number >= 0) {
    const ssize_t sent = ::sendfile(copy_->number, from.descriptor(), nullptr, left);
    if (sent <= 0) break;
    left -= static_cast<std::uint64_t>(sent);
  }
  constexpr char kTrailer = 0x3B;
  if (left > 0 || ::write(copy_->number, &kTrailer, 1) != 1)
    throw Error(ExitCode::Io,
                fmt::format("{}: the file is cut off, and no copy of its whole frames can be made: {}", path,
                            std::generic_category().message(errno)));
  address_ = fmt::format("file:///proc/self/fd/{}", copy_->number);
}

void VideoInput::set_tcp(const std::string& location) {
  kind_ = Kind::Tcp;
  const std::size_t colon = location.rfind(':');
  address_ = location.substr(kTcp.size(), colon > kTcp.size() ? colon - kTcp.size() : 0);
  if (address_.starts_with('[') && address_.ends_with(']'))
    address_ = address_.substr(1, address_.size() - 2);
  const char* end = location.data() + location.size();
  const auto [stop, code] = std::from_chars(location.data() + colon + 1, end, port_);
  constexpr int kMostPort = 65'535;
  if (address_.empty() || code != std::errc{} || stop != end || port_ < 1 || port_ > kMostPort)
    throw Error(ExitCode::BadConfig,
                fmt::format("'{}' is no address, allowed is tcp://HOST:PORT with a port from 1 to {}",
                            location, kMostPort));
}

/// Opened so that a pipe without a writer can be given up: a plain open() would wait for one for ever.
void VideoInput::open_pipe(const std::string& path) const {
  if (pipe_->number < 0) pipe_->number = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (pipe_->number < 0) throw missing(path, std::generic_category().message(errno));
  pollfd wait{.fd = pipe_->number, .events = POLLIN, .revents = 0};
  if (::poll(&wait, 1, options_.timeout_ms > 0 ? options_.timeout_ms : -1) == 0)
    throw Error(ExitCode::MissingInput, fmt::format("{}: nobody wrote into this pipe within {} ms (parameter "
                                                    "timeout; 0 waits for ever)",
                                                    path, options_.timeout_ms));
  const int flags = ::fcntl(pipe_->number, F_GETFL);
  ::fcntl(pipe_->number, F_SETFL, flags & ~O_NONBLOCK);
}

GstElement* VideoInput::add_source(FramePipeline& pipeline) const {
  if (kind_ == Kind::Tcp) {
    GstElement* source = pipeline.add("tcpclientsrc");
    g_object_set(source, "host", address_.c_str(), "port", port_, nullptr);
    leave_duration_to_demuxer(source);
    return source;
  }
  if (kind_ == Kind::SharedMemory) {
    GstElement* source = pipeline.add("shmsrc");
    GstElement* filter = pipeline.add("capsfilter");
    const Owned<GstCaps> caps(gst_caps_from_string(options_.caps.c_str()));
    if (!caps || !gst_caps_is_fixed(caps.get()))
      throw Error(ExitCode::BadConfig,
                  fmt::format("caps is '{}', allowed is one format with every value, for "
                              "example 'video/x-raw,format=RGB,width=640,height=480,"
                              "framerate=30/1'",
                              options_.caps));
    g_object_set(source, "socket-path", address_.c_str(), "is-live", TRUE, "do-timestamp", TRUE, nullptr);
    g_object_set(filter, "caps", caps.get(), nullptr);
    link({source, filter});
    return filter;
  }
  open_pipe(address_);
  GstElement* source = pipeline.add("fdsrc");
  g_object_set(source, "fd", pipe_->number, nullptr);
  leave_duration_to_demuxer(source);
  return source;
}

void VideoInput::build(FramePipeline& pipeline) const {
  if (kind_ != Kind::SharedMemory) require_memory_for_decoding();  // raw frames are not decoded
  if (kind_ == Kind::Uri) {
    GstElement* decode = pipeline.add("uridecodebin");
    const bool has_login = !options_.credentials.empty();
    g_object_set(decode, "uri", (has_login ? without_user(address_) : address_).c_str(), nullptr);
    g_signal_connect(decode, "source-setup", G_CALLBACK(on_source_setup),
                     GUINT_TO_POINTER(options_.latency_ms));
    if (has_login)
      g_signal_connect_data(
          decode, "source-setup", G_CALLBACK(log_in),
          new Credentials(stream_login(address_, options_.credentials)),
          [](gpointer own, GClosure*) { delete static_cast<Credentials*>(own); }, GConnectFlags{});
    if (!patches_.empty())
      g_signal_connect_data(
          decode, "source-setup", G_CALLBACK(patch_source), new Patches(patches_),
          [](gpointer own, GClosure*) { delete static_cast<Patches*>(own); }, GConnectFlags{});
    set_up_decoding(decode);
    pipeline.link_when_decoded(decode, pipeline.add_frame_end());
  } else {
    set_up_decoding(pipeline.decode_behind(add_source(pipeline)));
  }
}

}  // namespace contorno::gst
