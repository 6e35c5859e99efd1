#include "pipeline/run/reconnecting_source.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "base/error.h"
#include "pipeline/shared/clock.h"

namespace contorno {
namespace {

/// How many faults are kept of a source that comes and goes for months.
constexpr std::size_t kMostFaults = 100;

class RealTime final : public SourceTime {
 public:
  std::int64_t now() const override { return now_ns(); }
  bool sleep(std::int64_t ns) override {
    std::unique_lock lock(mutex_);
    return !cancelled_changed_.wait_for(lock, std::chrono::nanoseconds(ns), [&] { return cancelled_; });
  }
  void cancel() override {
    {
      const std::lock_guard lock(mutex_);
      cancelled_ = true;
    }
    cancelled_changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable cancelled_changed_;
  bool cancelled_ = false;
};

double rate_limit(const ReconnectingSource::Options& options, const StreamFormat& format) {
  if (options.max_rate > 0) return options.max_rate;
  if (!format.live || format.rate_numerator <= 0) return 0;
  return 2.0 * format.rate_numerator / std::max(1, format.rate_denominator);
}

}  // namespace

std::unique_ptr<SourceTime> real_source_time() {
  return std::make_unique<RealTime>();
}

ReconnectingSource::ReconnectingSource(std::unique_ptr<Source> first, OpenSource open, const Options& options,
                                       std::unique_ptr<SourceTime> time)
    : open_(std::move(open)),
      time_(std::move(time)),
      back_off_(options.back_off, options.seed),
      limit_(rate_limit(options, first->format())),
      format_(first->format()),
      source_(std::move(first)),
      since_(time_->now()) {}

std::shared_ptr<Source> ReconnectingSource::current() const {
  const std::lock_guard lock(mutex_);
  return source_;
}

void ReconnectingSource::cancel() {
  cancelled_ = true;
  time_->cancel();
  if (const std::shared_ptr<Source> source = current()) source->cancel();
}

void ReconnectingSource::give_up_connection() {
  if (away_ || !is_endless()) return;
  if (const std::shared_ptr<Source> source = current()) source->cancel();
}

/// What the source itself answers. `lost` says why it has to be opened again; empty: it need not be.
ReadResult ReconnectingSource::read_once(FrameInput& input, std::string& lost) {
  try {
    const ReadResult result = source_->read(input);
    if (result == ReadResult::FormatChanged) format_ = source_->format();
    if (result == ReadResult::End && is_endless() && !cancelled_) lost = "it ended or fell silent";
    return result;
  } catch (const Error& error) {
    if (!is_endless() || error.code() == ExitCode::Internal || error.code() == ExitCode::OutOfMemory) throw;
    lost = error.what();
    return ReadResult::End;
  }
}

ReadResult ReconnectingSource::read(FrameInput& input) {
  if (const std::int64_t wait = limit_.wait_before(time_->now()); wait > 0 && !time_->sleep(wait))
    return ReadResult::End;
  for (;;) {
    if (cancelled_) return ReadResult::End;
    std::string lost;
    const ReadResult result = read_once(input, lost);
    if (!lost.empty()) {
      const std::int64_t lost_at = time_->now();
      back_off_.lost_after(lost_at - since_);
      const StreamFormat before = format_;
      if (!reopen()) return ReadResult::End;
      remark_ = fmt::format("{}; there again after {:.1f} s", lost,
                            static_cast<double>(time_->now() - lost_at) * 1e-9);
      if (format_ != before) return ReadResult::FormatChanged;
      continue;
    }
    if (result != ReadResult::Frame) return result;
    note_frame(input);
    return result;
  }
}

/// False: cancelled.
bool ReconnectingSource::reopen() {
  away_ = true;
  for (SourceFault& fault : source_->faults())
    if (faults_.size() < kMostFaults) faults_.push_back(std::move(fault));
  {
    std::shared_ptr<Source> gone;  // ended without the lock: a camera opens only once
    const std::lock_guard lock(mutex_);
    gone = std::exchange(source_, nullptr);
  }
  while (time_->sleep(back_off_.next())) {
    std::unique_ptr<Source> again;
    try {
      again = open_unless_stopped(open_, cancelled_);
    } catch (const Error& error) {
      if (error.code() == ExitCode::Internal || error.code() == ExitCode::OutOfMemory) throw;
      continue;
    }
    if (!again) break;
    std::shared_ptr<Source> there = std::move(again);
    {
      const std::lock_guard lock(mutex_);
      source_ = there;
    }
    if (cancelled_) there->cancel();
    format_ = there->format();
    ++reconnections_;
    is_first_ = true;
    since_ = time_->now();
    away_ = false;
    return true;
  }
  return false;
}

/// Gives a frame its time: a connection counts from 0, and goes on where the last one ended.
void ReconnectingSource::note_frame(FrameInput& input) {
  const std::int64_t now = time_->now();
  if (std::exchange(is_first_, false) && last_pts_ns_ >= 0)
    offset_ns_ = last_pts_ns_ + std::max<std::int64_t>(1, now - last_came_ns_) - input.info.pts_ns;
  input.info.pts_ns += offset_ns_;
  last_pts_ns_ = input.info.pts_ns;
  last_came_ns_ = now;
  if (remark_.empty()) return;
  input.warning = input.warning.empty() ? remark_ : fmt::format("{}; {}", remark_, input.warning);
  remark_.clear();
}

std::vector<SourceFault> ReconnectingSource::faults() const {
  std::vector<SourceFault> all = faults_;
  if (const std::shared_ptr<Source> source = current())
    for (SourceFault& fault : source->faults()) all.push_back(std::move(fault));
  return all;
}

}  // namespace contorno
