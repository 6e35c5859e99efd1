#include "tools/commands/run_service.h"

#include <fmt/format.h>

#include "base/error.h"
#include "plugins/ops/ops.h"
#include "tools/say.h"

namespace contorno {

void RunService::listen(const OpsSettings& settings) {
  const std::optional<ListenAddress> address = listen_address(settings.listen);
  if (!address) return;
  const OpsModule& module = ops_module();
  pages_.emplace(restarts_.broken_before(), settings.max_lag_ms * 1e-3);
  server_ = module.listen(address->host, address->port,
                          [this](std::string_view path) { return pages_->page(path); });
  say(fmt::format("ops: http://{}/metrics, /healthz, /readyz", server_->address()));
}

std::unique_ptr<LinePages::Shown> RunService::show(const Fleet& fleet, const RunCameras& cameras) {
  if (!pages_) return nullptr;
  return std::make_unique<LinePages::Shown>(
      *pages_, fleet, [&cameras](std::size_t camera) { return cameras.latency(camera); });
}

WatchOptions RunService::watched(WatchOptions options) {
  if (manager_.listens()) options.service = &manager_;
  if (pages_)
    options.on_progress = [this](const std::optional<std::string>& hang) { pages_->note_progress(hang); };
  options.account = [this, account = std::move(options.account)] {
    note_end(static_cast<int>(ExitCode::Internal));
    if (account) account();
  };
  return options;
}

}  // namespace contorno
