#include "plugins/publish/publish_sink.h"

#include <fmt/format.h>

#include <chrono>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "config/describe.h"
#include "pipeline/graph/graph.h"
#include "pipeline/shared/clock.h"
#include "plugins/files/shared/output_file.h"
#include "plugins/files/shared/output_register.h"

namespace contorno {
namespace {

std::int64_t utc_now_ns() {
  using std::chrono::nanoseconds;
  return std::chrono::duration_cast<nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// FNV-1a of the graph as it runs, defaults included: equal where two runs did the same.
std::string graph_hash(const GraphSpec& graph) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : config::describe_graph(graph))
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return fmt::format("{:016x}", hash);
}

void check_camera_name(const std::string& name) {
  constexpr std::size_t kLongest = 32;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  bool is_good = !name.empty() && name.size() <= kLongest && is_letter(name.front());
  for (const char c : name) is_good = is_good && (is_letter(c) || c == '_' || c == '-');
  if (!is_good)
    throw Error(
        ExitCode::BadConfig,
        fmt::format("the camera '{}' is no name: allowed are up to {} of a to z, 0 to 9, _ and -, the first "
                    "a letter or digit",
                    name, kLongest));
}

/// The outboxes that are open: they go when their sinks have finished.
struct OpenList {
  std::mutex mutex;
  std::vector<std::weak_ptr<Outbox>> outboxes;
};
OpenList& open_list() {
  static OpenList list;
  return list;
}

void note_open(const std::shared_ptr<Outbox>& outbox) {
  OpenList& list = open_list();
  const std::lock_guard lock(list.mutex);
  std::erase_if(list.outboxes, [&](const std::weak_ptr<Outbox>& one) {
    return one.expired() || (!one.owner_before(outbox) && !outbox.owner_before(one));
  });
  list.outboxes.push_back(outbox);
}

class PublishSink final : public Sink {
 public:
  PublishSink(const PublishParams& params, const PublishModule& module, std::vector<RouteSpec> routes)
      : params_(params),
        module_(module),
        routes_(std::move(routes)),
        frames_(make_frame_messages(params.form, {.coordinates = Coordinates::Frame,
                                                  .skip_hidden = params.skip_hidden,
                                                  .totals = params.totals})) {}

  void open(const SinkContext& context) override {
    frames_->open(context);
    if (outbox_) return;  // another format, the same run
    patience_ = context.patience;
    camera_ = context.camera.empty() ? params_.camera : context.camera;
    check_camera_name(camera_);
    open_outbox(context);
    const MessageRunStart start{.utc_ns = utc_now_ns(),
                                .graph = graph_,
                                .version = CONTORNO_VERSION,
                                .source = context.stream.description,
                                .fallback = context.fallback};
    add(kRunStartKind, run_start_message(params_.form, next_key(), start));
  }

  void note_timing(const FrameTiming& timing) override { timing_ = timing; }

  void write(const FrameInfo& info, const Value& value) override {
    const MessageFrame frame{.utc_ns = utc_now_ns() - (now_ns() - timing_.arrived_ns),
                             .latency_us = (timing_.finished_ns - timing_.arrived_ns) / 1000,
                             .late = timing_.late,
                             .level = timing_.level};
    const bool thin = (params_.queue_full == QueueFull::Thin && outbox_->is_queue_full()) ||
                      (params_.disk_full == WhenFull::Thin && outbox_->is_file_full());
    const auto points = thin ? MessagePoints::LeftOut : MessagePoints::Written;
    thinned_ += points == MessagePoints::LeftOut ? 1 : 0;
    const std::string_view message =
        frames_->message(next_key(), info, frame, std::get<ContoursView>(value), points);
    add(kFrameKind, std::string(message), info.number, info.number);
    frames_accounted_ = info.number + 1;
  }

  void write_missing(const MissingFrames& missing) override {
    if (missing.reason == MissingFrames::Reason::Failed) {
      for (std::uint64_t frame = missing.first; frame <= missing.last; ++frame)
        add(kFailedKind, failed_message(params_.form, next_key(), frame, missing.error), frame, frame);
    } else {
      const MessageGap gap{.from = missing.first, .to = missing.last, .reason = word_of(missing.reason)};
      add(kGapKind, gap_message(params_.form, next_key(), gap), gap.from, gap.to);
    }
    frames_accounted_ = missing.last + 1;
  }

  void write_camera(const CameraNews& news) override {
    const MessageCamera camera{
        .utc_ns = utc_now_ns() - (now_ns() - news.at_ns), .state = news.state, .level = news.level};
    add(kCameraKind, camera_message(params_.form, next_key(), camera));
  }

  void finish() override {
    const std::uint64_t last_n = n_;
    const MessageRunEnd end{
        .utc_ns = utc_now_ns(), .crashed = false, .frames = frames_accounted_, .last_n = last_n};
    add(kRunEndKind, run_end_message(params_.form, next_key(), end));
    outbox_->flush(patience_);
    drain();
    left_ = outbox_->waiting();
    outbox_.reset();
  }

  std::string summary() const override {
    std::string text = fmt::format("{} (run {}, {} messages of '{}'", path_, run_, n_, camera_);
    if (thinned_ > 0) text += fmt::format(", {} frames without points", thinned_);
    if (left_ > 0) text += fmt::format(", {} wait for their broker", left_);
    return text + ")";
  }
  std::vector<ClassTotals> totals() const override { return frames_->totals(); }

 private:
  void open_outbox(const SinkContext& context) {
    const std::filesystem::path path = resolve_output(context.output_root, params_.outbox);
    make_output_folder(path.parent_path());
    if (context.outputs != nullptr) {
      // All cameras claim it under the same name, since it is the outbox of all.
      context.outputs->claim(path, fmt::format("the outbox '{}'", params_.outbox));
    }
    path_ = path.string();
    graph_ = context.graph != nullptr ? graph_hash(*context.graph) : std::string();
    OutboxSettings settings{.path = path_,
                            .sync_full = params_.sync == Sync::Full,
                            .max_bytes = static_cast<std::uint64_t>(params_.max_bytes),
                            .when_full = params_.disk_full,
                            .queue = static_cast<std::size_t>(params_.queue),
                            .routes = routes_};
    if (context.outputs != nullptr)
      settings.tell = [outputs = context.outputs](const LogEvent& event) { outputs->tell(event); };
    settings.gap_body = [form = params_.form](std::uint64_t run, const OutboxMessage& dropped) {
      return gap_message(form, {.run = run, .camera = dropped.camera, .n = dropped.n},
                         {.from = dropped.first, .to = dropped.last, .reason = "outbox_full"});
    };
    settings.crashed_body = [form = params_.form](std::uint64_t run, const std::string& camera,
                                                  std::uint64_t n, std::uint64_t frames) {
      return run_end_message(form, {.run = run, .camera = camera, .n = n},
                             {.utc_ns = utc_now_ns(), .crashed = true, .frames = frames, .last_n = n - 1});
    };
    outbox_ = module_.open(settings);
    outbox_->begin(camera_);
    note_open(outbox_);
    run_ = outbox_->run();
  }

  MessageKey next_key() { return {.run = run_, .camera = camera_, .n = ++n_}; }

  void add(std::string_view kind, std::string body, std::uint64_t first = 1, std::uint64_t last = 0) {
    const Outbox::Added added = outbox_->add({.camera = camera_,
                                              .kind = std::string(kind),
                                              .n = n_,
                                              .first = first,
                                              .last = last,
                                              .body = std::move(body)},
                                             patience_);
    waited_ = added == Outbox::Added::Waited;
  }

  /// Where this sink was held up by the outbox, the ring was full because of it.
  std::string_view word_of(MissingFrames::Reason reason) const {
    switch (reason) {
      case MissingFrames::Reason::RingFull:
        return waited_ ? "outbox" : "ring_full";
      case MissingFrames::Reason::Deadline:
        return "deadline";
      case MissingFrames::Reason::Aborted:
        return "aborted";
      case MissingFrames::Reason::Thinned:
        return "thinned";
      case MissingFrames::Reason::Failed:
        break;
    }
    throw InternalError("a gap without a reason");
  }

  /// Waits for the routes.
  void drain() {
    const auto limit = std::chrono::nanoseconds(static_cast<std::int64_t>(params_.drain_ms * 1e6));
    const Patience patience{.limit = limit, .stopping = patience_.stopping};
    if (limit.count() == 0) return;
    for (const std::int64_t since = now_ns(); outbox_->waiting() > 0 && !patience.ends(since);)
      std::this_thread::sleep_for(Patience::kLook);
  }

  PublishParams params_;
  const PublishModule& module_;
  std::vector<RouteSpec> routes_;
  std::unique_ptr<FrameMessageWriter> frames_;
  std::shared_ptr<Outbox> outbox_;
  Patience patience_;
  FrameTiming timing_;
  std::string path_, camera_, graph_;
  std::uint64_t run_ = 0, n_ = 0, frames_accounted_ = 0, thinned_ = 0, left_ = 0;
  bool waited_ = false;  // the message before
};

}  // namespace

std::vector<OutboxStatus> outbox_statuses() {
  std::vector<std::shared_ptr<Outbox>> open;  // closed, if this is the last owner, without the lock
  {
    OpenList& list = open_list();
    const std::lock_guard lock(list.mutex);
    for (const auto& one : list.outboxes)
      if (std::shared_ptr<Outbox> outbox = one.lock()) open.push_back(std::move(outbox));
  }
  std::vector<OutboxStatus> statuses;
  for (const auto& outbox : open) statuses.push_back(outbox->status());
  return statuses;
}

std::unique_ptr<Sink> make_publish_sink(const PublishParams& params, const PublishModule& module,
                                        std::vector<RouteSpec> routes) {
  return std::make_unique<PublishSink>(params, module, std::move(routes));
}

}  // namespace contorno
