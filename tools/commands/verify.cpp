// contorno verify: whether every number of every camera is in an outbox once, in order.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "pipeline/shared/printable.h"
#include "plugins/files/contours/message_reader.h"
#include "plugins/publish/publish.h"
#include "tools/commands/commands.h"
#include "tools/say.h"

namespace contorno {
namespace {

/// The messages of a camera in a run, one after the other.
class Completeness {
 public:
  void take(const MessageFacts& facts) {
    if (messages_ == 0)
      first_n_ = facts.n, is_whole_ = facts.n == 1;
    else if (facts.n != next_n_)
      fault(fmt::format("after message {} comes {}", next_n_ - 1, facts.n));
    if (is_ended_) fault(fmt::format("message {} comes behind run_end", facts.n));
    next_n_ = facts.n + 1;
    ++messages_;
    if (facts.kind == "run_end") end(facts);
    if (facts.first > facts.last) return;
    // Where earlier messages have been brought away and removed, the first that is there is believed.
    const std::uint64_t expected = next_frame_.value_or(is_whole_ ? 0 : facts.first);
    if (facts.first != expected)
      fault(fmt::format("message {} accounts for frame {}, expected was {}", facts.n, facts.first, expected));
    next_frame_ = facts.last + 1;
    const std::uint64_t frames = facts.last - facts.first + 1;
    (facts.kind == "frame" ? frames_ : facts.kind == "failed" ? failed_ : missing_) += frames;
  }
  void fault(const std::string& what) {
    if (faults_++ == 0) first_fault_ = what;
  }
  std::uint64_t faults() const { return faults_; }

  std::string sentence() const {
    std::string text = fmt::format("messages {} to {}, {} frames, {} failed, {} in gaps", first_n_,
                                   next_n_ - 1, frames_, failed_, missing_);
    text += is_crashed_ ? ", killed" : is_ended_ ? ", ended" : ", still open";
    if (!is_whole_) text += ", earlier ones were brought away";
    return text + (faults_ == 0
                       ? ": complete"
                       : fmt::format(": NOT complete, {} faults, the first: {}", faults_, first_fault_));
  }

 private:
  void end(const MessageFacts& facts) {
    is_ended_ = true, is_crashed_ = facts.crashed;
    if (next_frame_ && facts.frames != *next_frame_)
      fault(fmt::format("run_end says {} frames, the messages account for {}", facts.frames, *next_frame_));
  }

  std::uint64_t first_n_ = 0, next_n_ = 1, messages_ = 0, frames_ = 0, failed_ = 0, missing_ = 0, faults_ = 0;
  std::optional<std::uint64_t> next_frame_;
  bool is_whole_ = false, is_ended_ = false, is_crashed_ = false;
  std::string first_fault_;
};

int verify(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    throw Error(ExitCode::MissingInput, fmt::format("'{}' does not exist", printable(path)));
  std::map<std::pair<std::uint64_t, std::string>, Completeness> streams;
  publish_module().read(path, [&](const KeptMessage& kept) {
    Completeness& stream = streams[{kept.run, kept.camera}];
    try {
      const MessageFacts facts = read_message(kept.body, fmt::format("{} of {}", kept.n, kept.camera));
      if (facts.run != kept.run || facts.camera != kept.camera || facts.n != kept.n ||
          facts.kind != kept.kind)
        stream.fault(fmt::format("the row of message {} holds another one", kept.n));
      stream.take(facts);
    } catch (const Error& error) {
      stream.fault(error.what());
    }
  });
  std::uint64_t faults = 0;
  for (const auto& [key, stream] : streams) {
    print("run {}, camera {}: {}\n", key.first, key.second, stream.sentence());
    faults += stream.faults();
  }
  if (streams.empty()) print("no messages\n");
  return static_cast<int>(faults == 0 ? ExitCode::Ok : ExitCode::BadData);
}

}  // namespace

void add_verify_command(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("verify", "Say whether an outbox accounts for every frame of every camera");
  auto path = std::make_shared<std::string>();
  command->add_option("FILE", *path, "The outbox of a sink publish; a run may be writing it")
      ->type_name("FILE.db")
      ->required();
  command->footer("Exit code 0: complete; 65: a number is missing, doubled or out of order.");
  command->callback([path, &action] { action = [path] { return verify(*path); }; });
}

}  // namespace contorno
