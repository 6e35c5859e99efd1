#include "config/source_text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "config/problems.h"

namespace contorno::config {
namespace {

/// Brackets that may be open at once before the parser is not even asked. Far above kMaxDepth, because
/// brackets inside plain text are counted too.
constexpr int kMaxOpenBrackets = 500;

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

/// In ASCII that is stored as UTF-16 every other byte is 0.
bool looks_like_utf16(std::string_view bytes) {
  const auto zero = [&](std::size_t i) { return bytes[i] == '\0'; };
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) return true;
  return bytes.size() > 3 && zero(0) != zero(1) && zero(0) == zero(2) && zero(1) == zero(3);
}

/// Whether this is no text in any encoding: a slip of a hand makes one or two control characters, not more.
bool is_binary(std::string_view bytes) {
  constexpr std::size_t kStart = 4096;
  constexpr std::ptrdiff_t kSlips = 2;
  const std::string_view start = bytes.substr(0, kStart);
  const auto is_of_no_text = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && c != '\n' && c != '\r' && c != '\t';
  };
  return !looks_like_utf16(start) && std::count_if(start.begin(), start.end(), is_of_no_text) > kSlips;
}

constexpr const char* kHowToReadMedia =
    "a graph is text; give a video, a picture or an array by its file name ('contorno run clip.mp4'); one on "
    "standard input is read by a graph that is a file: 'contorno run graph.yaml --input -'";

}  // namespace

SourceText::SourceText(std::string bytes) {
  if (bytes.starts_with("\xEF\xBB\xBF")) dropped_ = 3;
  text_.reserve(bytes.size());
  for (std::size_t i = dropped_; i < bytes.size(); ++i)
    if (bytes[i] == '\r' && i + 1 < bytes.size() && bytes[i + 1] == '\n')
      returns_.push_back(text_.size());
    else
      text_.push_back(bytes[i]);
  line_starts_.push_back(0);
  for (std::size_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n') line_starts_.push_back(i + 1);
}

std::string_view SourceText::line(int number) const {
  const auto index = static_cast<std::size_t>(number - 1);
  if (number < 1 || index >= line_starts_.size()) return {};
  const std::size_t start = line_starts_[index];
  const std::size_t end = index + 1 < line_starts_.size() ? line_starts_[index + 1] - 1 : text_.size();
  return std::string_view(text_).substr(start, end - start);
}

Place SourceText::place(int line, int byte_column, int bytes) const {
  const std::string_view content = this->line(line + 1);
  const auto column = std::min(static_cast<std::size_t>(std::max(byte_column, 0)), content.size());
  const auto underlined = content.substr(column, static_cast<std::size_t>(std::max(bytes, 1)));
  return {.line = line + 1,
          .column = static_cast<int>(character_count(content.substr(0, column))) + 1,
          .length = std::max(1, static_cast<int>(character_count(underlined)))};
}

Place SourceText::place_at(std::size_t offset) const {
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const auto index = static_cast<std::size_t>(after - line_starts_.begin() - 1);
  return place(static_cast<int>(index), static_cast<int>(offset - line_starts_[index]));
}

std::string_view SourceText::rest_of_line(int line, int byte_column) const {
  const std::string_view content = this->line(line + 1);
  const auto column = static_cast<std::size_t>(std::max(byte_column, 0));
  return column < content.size() ? content.substr(column) : std::string_view();
}

std::size_t SourceText::offset_in_file(std::size_t offset) const {
  const auto before = std::upper_bound(returns_.begin(), returns_.end(), offset) - returns_.begin();
  return offset + dropped_ + static_cast<std::size_t>(before);
}

bool SourceText::check(Problems& problems) const {
  if (is_binary(text_)) {
    problems.add({}, "this is no graph, but a video, a picture, an array or the like", kHowToReadMedia);
    return false;
  }
  if (text_.size() + dropped_ > kMaxFileBytes) {
    problems.add({},
                 fmt::format("the file is larger than {} KiB, which no graph needs", kMaxFileBytes / 1024));
    return false;
  }
  return check_encoding(problems) && check_nesting(problems);
}

bool SourceText::check_encoding(Problems& problems) const {
  if (text_.starts_with("\xFF\xFE") || text_.starts_with("\xFE\xFF")) {
    problems.add({}, "byte 0: the file is UTF-16, a graph is UTF-8",
                 "save it as UTF-8, for example with: iconv -f UTF-16 -t UTF-8");
    return false;
  }
  for (std::size_t i = 0; i < text_.size();) {
    const std::size_t length = utf8_length(text_, i);
    if (length != 0 && !is_control(text_, i)) {
      i += length;
      continue;
    }
    const std::string what =
        length == 0 ? fmt::format("byte 0x{:02x} is not valid UTF-8", static_cast<unsigned char>(text_[i]))
                    : fmt::format("control character 0x{:02x} is not allowed in a graph",
                                  static_cast<unsigned char>(text_[i + length - 1]));
    problems.add(place_at(i), fmt::format("byte {}: {}", offset_in_file(i), what),
                 looks_like_utf16(text_) ? "the file looks like UTF-16: save it as UTF-8" : "");
    return false;
  }
  return true;
}

bool SourceText::check_nesting(Problems& problems) const {
  int open = 0;
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '[' || text_[i] == '{') ++open;
    if ((text_[i] == ']' || text_[i] == '}') && open > 0) --open;
    if (open > kMaxOpenBrackets) {
      problems.add(place_at(i), fmt::format("nested deeper than {}", kMaxDepth));
      return false;
    }
  }
  return true;
}

std::string graph_file_name(const std::string& path) {
  return path == "-" ? "<stdin>" : path;
}

std::string read_graph_file(const std::string& path) {
  const auto fail = [&](const std::string& why) {
    std::error_code ignored;
    throw Error(ExitCode::MissingInput,
                fmt::format("'{}' {} (current folder: {})", printable(path, 4096), why,
                            printable(std::filesystem::current_path(ignored).string(), 4096)));
  };
  const bool standard_input = path == "-";
  // O_NONBLOCK: opening a FIFO without a writer must not wait.
  const FileDescriptor file(standard_input
                                ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                : ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (file.get() < 0)
    fail(errno == ENOENT ? "does not exist" : fmt::format("cannot be opened: {}", std::strerror(errno)));
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) fail(fmt::format("cannot be examined: {}", std::strerror(errno)));
  if (S_ISDIR(facts.st_mode)) fail("is a folder, not a file");
  const bool pipe = S_ISFIFO(facts.st_mode) && !standard_input;
  if (!S_ISREG(facts.st_mode) && !pipe && !standard_input) fail("is neither a regular file nor a pipe");
  std::string bytes;
  char chunk[16384];
  while (bytes.size() <= kMaxFileBytes) {
    const ssize_t got = ::read(file.get(), chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN && pipe) {  // somebody has it open and has not written yet
      pollfd readable{.fd = file.get(), .events = POLLIN, .revents = 0};
      ::poll(&readable, 1, -1);
      continue;
    }
    if (got < 0) fail(fmt::format("cannot be read: {}", std::strerror(errno)));
    if (got == 0) break;
    bytes.append(chunk, static_cast<std::size_t>(got));
  }
  if (pipe && bytes.empty()) fail("is a pipe that nobody writes to");
  return bytes;
}

}  // namespace contorno::config
