// contorno verify: whether every number of every camera is in an outbox, or at a broker, once and in order.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "pipeline/shared/printable.h"
#include "plugins/files/contours/message_reader.h"
#include "plugins/publish/publish.h"
#include "tools/commands/commands.h"
#include "tools/say.h"

namespace contorno {
namespace {

/// Whether a message may come again: a broker gets it at least once.
enum class Repeats : std::uint8_t { Wrong, Counted };

/// The messages of a camera in a run, one after the other.
class Completeness {
 public:
  explicit Completeness(Repeats repeats) : may_repeat_(repeats == Repeats::Counted) {}

  void take(const MessageFacts& facts) {
    if (may_repeat_ && messages_ > 0 && facts.n >= first_n_ && facts.n < next_n_) {
      ++repeats_;
      return;
    }
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
    if (repeats_ > 0) text += fmt::format(", {} came again", repeats_);
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

  std::uint64_t first_n_ = 0, next_n_ = 1, messages_ = 0, frames_ = 0, failed_ = 0, missing_ = 0, faults_ = 0,
                repeats_ = 0;
  std::optional<std::uint64_t> next_frame_;
  bool may_repeat_, is_whole_ = false, is_ended_ = false, is_crashed_ = false;
  std::string first_fault_;
};

/// All streams of what is judged.
class Judgement {
 public:
  explicit Judgement(Repeats repeats) : repeats_(repeats) {}

  void take(const KeptMessage& kept) {
    Completeness& stream = stream_of(kept.run, kept.camera);
    try {
      const MessageFacts facts = read_message(kept.body, fmt::format("{} of {}", kept.n, kept.camera));
      if (facts.run != kept.run || facts.camera != kept.camera || facts.n != kept.n ||
          facts.kind != kept.kind)
        stream.fault(fmt::format("the row of message {} holds another one", kept.n));
      stream.take(facts);
    } catch (const Error& error) {
      stream.fault(error.what());
    }
  }

  void take(const BrokerMessage& message) {
    try {
      const MessageFacts facts = read_message(message.body, fmt::format("a message of {}", message.camera));
      Completeness& stream = stream_of(facts.run, facts.camera);
      if (facts.camera != message.camera || message.run.value_or(facts.run) != facts.run ||
          message.n.value_or(facts.n) != facts.n)
        stream.fault(fmt::format("message {} is where another one should be", facts.n));
      stream.take(facts);
    } catch (const Error& error) {
      if (foreign_++ == 0) first_foreign_ = error.what();
    }
  }

  /// Of the whole, not of one stream.
  void fault(const std::string& what) { faults_.push_back(what); }

  int print_verdict() const {
    std::uint64_t faults = foreign_ + faults_.size();
    for (const auto& [key, stream] : streams_) {
      print("run {}, camera {}: {}\n", key.first, key.second, stream.sentence());
      faults += stream.faults();
    }
    if (foreign_ > 0) print("{} that are no messages, the first: {}\n", foreign_, first_foreign_);
    for (const std::string& one : faults_) print("{}\n", one);
    if (streams_.empty() && faults == 0) print("no messages\n");
    return static_cast<int>(faults == 0 ? ExitCode::Ok : ExitCode::BadData);
  }

 private:
  Completeness& stream_of(std::uint64_t run, const std::string& camera) {
    return streams_.try_emplace({run, camera}, repeats_).first->second;
  }

  Repeats repeats_;
  std::map<std::pair<std::uint64_t, std::string>, Completeness> streams_;
  std::uint64_t foreign_ = 0;
  std::string first_foreign_;
  std::vector<std::string> faults_;
};

struct VerifyArguments {
  std::string what, credentials, ca;
};

/// What is wrong with a value of the command line, which is none of a graph.
template <class Call>
auto as_option(const Call& call) {
  try {
    return call();
  } catch (const Error& error) {
    if (error.code() != ExitCode::BadConfig) throw;
    throw Error(ExitCode::BadOption, error.what());
  }
}

int verify_broker(const VerifyArguments& arguments) {
  const RouteModule* const route = route_module_of(arguments.what);
  if (route == nullptr)
    throw Error(ExitCode::BadOption,
                fmt::format("'{}' is no address of a broker that can be read again; these begin "
                            "with redis://, rediss://, kafka:// or kafka+ssl://",
                            arguments.what));
  if (route->read == nullptr)
    throw Error(
        ExitCode::BadOption,
        "a broker of MQTT hands a message on and keeps none that could be read again: verify the outbox, "
        "or what the consumer has");
  const RouteTarget target{
      .address = arguments.what, .credentials = arguments.credentials, .ca = arguments.ca};
  as_option([&] { route->check(target); });
  Judgement judgement(Repeats::Counted);
  route->read(target, [&](const BrokerMessage& message) { judgement.take(message); });
  return judgement.print_verdict();
}

int verify(const VerifyArguments& arguments) {
  const std::string& path = arguments.what;
  if (path.find("://") != std::string::npos) return verify_broker(arguments);
  if (!arguments.credentials.empty() || !arguments.ca.empty())
    throw Error(ExitCode::BadOption,
                "--credentials and --ca are for the address of a broker, and a file is given");
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    throw Error(ExitCode::MissingInput, fmt::format("'{}' does not exist", printable(path)));
  Judgement judgement(Repeats::Wrong);
  publish_module().read(
      path, [&](const KeptMessage& kept) { judgement.take(kept); },
      [&](const std::string& what) { judgement.fault(what); });
  return judgement.print_verdict();
}

}  // namespace

void add_verify_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "verify", "Say whether an outbox, or a broker, accounts for every frame of every camera");
  auto arguments = std::make_shared<VerifyArguments>();
  command
      ->add_option("FILE", arguments->what,
                   "The outbox of a sink publish, or the address of a broker (redis://HOST/PREFIX, "
                   "kafka://HOST/TOPIC); a run may be writing to it")
      ->type_name("FILE.db")
      ->required();
  command
      ->add_option("--credentials", arguments->credentials,
                   "The login for a broker: a name in $CREDENTIALS_DIRECTORY, or a path with a '/'")
      ->type_name("FILE");
  command->add_option("--ca", arguments->ca, "The issuers of certificates that are trusted (PEM), with TLS")
      ->type_name("FILE");
  command->footer(
      "Exit code 0: complete; 65: a number is missing, doubled or out of order. What comes to a broker again "
      "is counted, and no fault.");
  command->callback([arguments, &action] { action = [arguments] { return verify(*arguments); }; });
}

}  // namespace contorno
