#include "plugins/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "cuda/error.h"

namespace contorno {
namespace fs = std::filesystem;
namespace {

constexpr int kMaxDigits = 20;              // of a 64-bit frame number
constexpr std::size_t kMaxNameBytes = 128;  // leaves room for the rest of a file name (255 bytes)

std::string reason(int error_number) {
  return std::generic_category().message(error_number);
}

/// True when `path` is below `root`, both canonical.
bool is_below(const fs::path& root, const fs::path& path) {
  const auto [end_of_root, at] = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  return end_of_root == root.end() && at != path.end();
}

/// The name of a frame as one harmless path component; UTF-8 passes.
std::string safe_component(std::string_view name) {
  if (const auto slash = name.find_last_of('/'); slash != std::string_view::npos)
    name.remove_prefix(slash + 1);
  if (const auto dot = name.find_last_of('.'); dot != std::string_view::npos && dot > 0)
    name = name.substr(0, dot);
  if (name.size() > kMaxNameBytes) {
    std::size_t length = kMaxNameBytes;
    while (length > 0 && (static_cast<unsigned char>(name[length]) & 0xC0) == 0x80) --length;
    name = name.substr(0, length);
  }
  std::string safe(name);
  for (char& c : safe) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || c == '/' || c == '\\' || c == ':') c = '_';
  }
  if (!safe.empty() && safe.front() == '.') safe.front() = '_';
  return safe;
}

}  // namespace

fs::path resolve_output(const fs::path& output_root, std::string_view path) {
  const auto refuse = [&](std::string_view why) {
    return Error(ExitCode::BadConfig, fmt::format("output path '{}' {}; allowed is a file below '{}'", path,
                                                  why, output_root.string()));
  };
  if (path.empty() || path.find('\0') != std::string_view::npos) throw refuse("is not a file name");
  std::error_code error;
  const fs::path root =
      fs::weakly_canonical(fs::absolute(output_root.empty() ? fs::path(".") : output_root), error);
  if (error) throw refuse("cannot be resolved (" + error.message() + ")");
  const fs::path wanted = root / fs::path(path);  // an absolute path replaces the root
  if (!wanted.has_filename() || wanted.filename() == "." || wanted.filename() == "..")
    throw refuse("is not a file name");
  const fs::path folder = fs::weakly_canonical(wanted.parent_path(), error);
  if (error) throw refuse("cannot be resolved (" + error.message() + ")");
  fs::path file = folder / wanted.filename();
  if (!is_below(root, file)) throw refuse("leads outside of the output folder");
  // The last component is not followed: a link there would carry the writing elsewhere.
  const fs::file_status status = fs::symlink_status(file, error);
  if (fs::is_symlink(status)) throw refuse("is a symbolic link");
  if (fs::is_directory(status)) throw refuse("is a folder");
  return file;
}

PathPattern::PathPattern(std::string_view text) : text_(text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if ((c == '{' || c == '}') && at + 1 < text.size() && text[at + 1] == c) {
      add_literal(c);
      ++at;
    } else if (c == '{') {
      const std::size_t close = text.find('}', at);
      if (close == std::string_view::npos)
        throw Error(ExitCode::BadOption, fmt::format("path '{}' has a '{{' without '}}'", text));
      pieces_.push_back(placeholder(text.substr(at + 1, close - at - 1), text));
      at = close;
    } else if (c == '}') {
      throw Error(ExitCode::BadOption,
                  fmt::format("path '{}' has a '}}' without '{{' (write '}}}}' for a brace)", text));
    } else {
      add_literal(c);
    }
  }
}

PathPattern::Piece PathPattern::placeholder(std::string_view word, std::string_view pattern) {
  if (word == "name") return {.kind = Kind::Name};
  if (word == "frame") return {.kind = Kind::Frame};
  constexpr std::string_view kPadded = "frame:0";
  if (word.starts_with(kPadded)) {
    const std::string_view digits = word.substr(kPadded.size());
    int value = 0;
    const bool numeric =
        !digits.empty() && digits.size() <= 2 &&
        std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
    for (const char c : numeric ? digits : std::string_view()) value = value * 10 + (c - '0');
    if (value >= 1 && value <= kMaxDigits) return {.kind = Kind::Frame, .digits = value};
  }
  throw Error(
      ExitCode::BadOption,
      fmt::format("path '{}' has the placeholder '{{{}}}', allowed are {{frame}}, {{frame:06}} (1 to {} "
                  "digits) and {{name}}",
                  pattern, word, kMaxDigits));
}

void PathPattern::add_literal(char c) {
  if (pieces_.empty() || pieces_.back().kind != Kind::Literal) pieces_.push_back({});
  pieces_.back().literal += c;
}

bool PathPattern::varies() const {
  return std::any_of(pieces_.begin(), pieces_.end(), [](const Piece& p) { return p.kind != Kind::Literal; });
}

std::string PathPattern::format(std::uint64_t frame, std::string_view name) const {
  std::string path;
  for (const Piece& piece : pieces_) {
    switch (piece.kind) {
      case Kind::Literal:
        path += piece.literal;
        break;
      case Kind::Frame:
        fmt::format_to(std::back_inserter(path), "{:0{}}", frame, piece.digits);
        break;
      case Kind::Name: {
        const std::string safe = safe_component(name);
        path += safe.empty() ? fmt::format("{:06}", frame) : safe;
        break;
      }
    }
  }
  return path;
}

bool try_output_path(const ParamTrial& trial, const std::string& path, PathUse use) {
  return trial.run("path", [&] {
    resolve_output(trial.output_root(), use == PathUse::Pattern ? PathPattern(path).format(0, "name") : path);
  });
}

OutputFile::OutputFile(fs::path path, Completion completion) : path_(std::move(path)), owns_(true) {
  static std::atomic<unsigned> counter{0};  // two sinks may have the same target until the first completes
  const auto cannot = [this](const std::string& why) {
    return Error(ExitCode::CannotCreate, fmt::format("cannot create '{}': {}", path_.string(), why));
  };
  std::error_code error;
  if (path_.has_parent_path()) fs::create_directories(path_.parent_path(), error);
  if (error) throw cannot(error.message());
  const fs::file_status status = fs::symlink_status(path_, error);
  if (fs::is_symlink(status)) throw cannot("it is a symbolic link");
  if (fs::is_directory(status)) throw cannot("it is a folder");
  const bool special = fs::exists(status) && !fs::is_regular_file(status);
  int flags = O_WRONLY | O_CLOEXEC | O_NOFOLLOW;
  if (special) {
    // A pipe or device keeps its nature: nothing is created, renamed or removed.
  } else if (completion == Completion::InPlace) {
    // A new file instead of truncating: other names (hard links) of the old one keep their content.
    fs::remove(path_, error);
    flags |= O_CREAT | O_EXCL;
  } else {
    flags |= O_CREAT | O_EXCL;
    temporary_ = path_;
    temporary_ += fmt::format(".part{}-{}", ::getpid(), counter.fetch_add(1));
  }
  const fs::path& opened = temporary_.empty() ? path_ : temporary_;
  do {
    descriptor_ = ::open(opened.c_str(), flags, 0666);
  } while (descriptor_ < 0 && errno == EINTR);
  if (descriptor_ < 0) {
    const int error_number = errno;
    temporary_.clear();
    throw cannot(reason(error_number));
  }
  regular_ = !special;
}

OutputFile OutputFile::standard_output() {
  OutputFile file;
  file.path_ = "standard output";
  file.descriptor_ = STDOUT_FILENO;
  return file;
}

OutputFile::OutputFile(OutputFile&& other) noexcept {
  *this = std::move(other);
}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  if (this == &other) return *this;
  abandon();
  path_ = std::exchange(other.path_, {});
  temporary_ = std::exchange(other.temporary_, {});
  descriptor_ = std::exchange(other.descriptor_, -1);
  owns_ = std::exchange(other.owns_, false);
  regular_ = std::exchange(other.regular_, false);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

OutputFile::~OutputFile() {
  abandon();
}

void OutputFile::write(std::string_view record) {
  if (descriptor_ < 0) throw InternalError("write to a file that is not open");
  std::string_view rest = record;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      const int error_number = errno;
      // Cutting can only fail for reasons that the error already tells.
      if (regular_ && ::ftruncate(descriptor_, static_cast<off_t>(bytes_)) == 0)
        ::lseek(descriptor_, static_cast<off_t>(bytes_), SEEK_SET);
      fail("write", error_number);
    }
  }
  bytes_ += record.size();
}

void OutputFile::complete() {
  if (descriptor_ < 0) return;
  const int descriptor = std::exchange(descriptor_, -1);
  // close() reports delayed write errors (network file systems); EINTR leaves the descriptor closed on Linux.
  if (owns_ && ::close(descriptor) != 0 && errno != EINTR) {
    const int error_number = errno;
    abandon();
    fail("close", error_number);
  }
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error_number = errno;
    abandon();
    fail("rename to", error_number);
  }
  temporary_.clear();
}

void OutputFile::abandon() noexcept {
  if (descriptor_ >= 0 && owns_) ::close(descriptor_);
  descriptor_ = -1;
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

fs::path OutputFile::keep_unfinished() noexcept {
  fs::path kept = temporary_.empty() ? path_ : std::exchange(temporary_, {});
  abandon();
  return kept;
}

void OutputFile::fail(const char* doing, int error_number) {
  throw Error(ExitCode::Io, fmt::format("cannot {} '{}': {}", doing, path_.string(), reason(error_number)));
}

}  // namespace contorno
