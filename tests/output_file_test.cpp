#include "plugins/output_file.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <string>

#include "cuda/error.h"
#include "tests/file_content.h"
#include "tests/temporary_folder.h"

using namespace contorno;
namespace fs = std::filesystem;

namespace {
std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}
}  // namespace

TEST_CASE("output paths stay below the output root") {
  const TemporaryFolder folder;
  const fs::path root = fs::canonical(folder.path());
  CHECK(resolve_output(root, "a.jsonl") == root / "a.jsonl");
  CHECK(resolve_output(root, "new/sub/a.jsonl") == root / "new/sub/a.jsonl");
  CHECK(resolve_output(root, "x/../a b %n%s\n.svg") == root / "a b %n%s\n.svg");
  CHECK(resolve_output(root, (root / "abs.json").string()) == root / "abs.json");
  for (const char* path : {"../x", "a/../../x", "/etc/cron.d/x", "", ".", "..", "sub/", "/"}) {
    CAPTURE(path);
    CHECK_THROWS_AS(resolve_output(root, path), Error);
  }
  CHECK_THROWS_AS(resolve_output(root, root.string() + "2/x"), Error);  // same prefix, other folder
  CHECK_THROWS_WITH_AS(resolve_output(root, "../x"),
                       ("output path '../x' leads outside of the output folder; allowed is a file below '" +
                        root.string() + "'")
                           .c_str(),
                       Error);
}

TEST_CASE("output paths through symbolic links are refused and the target is untouched") {
  const TemporaryFolder folder, outside;
  std::ofstream(outside.path() / "passwd") << "secret";
  fs::create_symlink(outside.path() / "passwd", folder.path() / "file.jsonl");
  fs::create_directory_symlink(outside.path(), folder.path() / "sub");
  fs::create_symlink(outside.path() / "later", folder.path() / "dangling");
  for (const char* path : {"file.jsonl", "sub/passwd", "sub/new", "dangling", "dangling/x"}) {
    CAPTURE(path);
    CHECK_THROWS_AS(OutputFile(resolve_output(folder.path(), path), Completion::InPlace), Error);
  }
  CHECK_THROWS_AS(OutputFile(folder.path() / "file.jsonl", Completion::Rename), Error);
  CHECK(content(outside.path() / "passwd") == "secret");
  CHECK(entries(outside.path()) == 1);
}

TEST_CASE("path patterns know frame and name only") {
  CHECK(PathPattern("a/{frame:06}.svg").format(42, "") == "a/000042.svg");
  CHECK(PathPattern("{frame}").format(18446744073709551615ull, "") == "18446744073709551615");
  CHECK(PathPattern("{frame:03}").format(4294967301ull, "") == "4294967301");
  CHECK(PathPattern("%n%s{{{name}}}.svg").format(0, "img.v2.png") == "%n%s{img.v2}.svg");
  CHECK(PathPattern("{name}").format(7, "") == "000007");
  CHECK(PathPattern("{name}").format(7, "..") == "_");
  CHECK(PathPattern("{name}").format(7, "../../etc/cron.d/x\n\\y") == "x__y");
  CHECK(PathPattern("{name}").format(7, std::string(500, 'a')).size() == 128);
  CHECK(PathPattern("{name}").format(7, "äpfel.png") == "äpfel");
  CHECK(PathPattern("x-{frame}").varies());
  CHECK_FALSE(PathPattern("x").varies());
  for (const char* text :
       {"{camera}", "{frame:}", "{frame:06d}", "{frame:6}", "{frame:021}", "{", "}", "{}", "{fr{ame}"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(PathPattern{text}, Error);
  }
}

TEST_CASE("a path without a folder is a file in the current one") {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  for (const Completion completion : {Completion::Rename, Completion::InPlace}) {
    OutputFile file("bare.txt", completion);
    file.write("here");
    file.complete();
  }
  fs::current_path(before);
  CHECK(content(folder.path() / "bare.txt") == "here");
}

TEST_CASE("a file gets its name only when it is complete") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "deep/er/a.json";
  {
    OutputFile file(path, Completion::Rename);
    file.write("half");
    CHECK_FALSE(fs::exists(path));
  }
  CHECK(entries(path.parent_path()) == 0);
  OutputFile first(path, Completion::Rename), second(path, Completion::Rename);
  first.write("one");
  second.write("two");
  first.complete();
  CHECK(content(path) == "one");
  OutputFile moved = std::move(second);
  moved.complete();
  CHECK(content(path) == "two");
  CHECK(entries(path.parent_path()) == 1);
}

TEST_CASE("a file written in place leaves hard links to its predecessor alone") {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "old") << "old";
  fs::create_hard_link(folder.path() / "old", folder.path() / "a");
  OutputFile file(folder.path() / "a", Completion::InPlace);
  file.write("new");
  file.complete();
  CHECK(content(folder.path() / "old") == "old");
  CHECK(content(folder.path() / "a") == "new");
}

TEST_CASE("a full device is an error with path and reason") {
  OutputFile file("/dev/full", Completion::InPlace);
  try {
    file.write("x");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::Io);
    CHECK(std::string(error.what()) == "cannot write '/dev/full': No space left on device");
  }
}

TEST_CASE("a record that does not fit any more is cut off") {
  const TemporaryFolder folder;
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit = before;
  limit.rlim_cur = 1000;  // write() is short at the limit, then fails with EFBIG
  setrlimit(RLIMIT_FSIZE, &limit);
  OutputFile file(folder.path() / "a", Completion::InPlace);
  const std::string record(299, 'r');
  int written = 0;
  try {
    while (written < 10) {
      file.write(record + "\n");
      ++written;
    }
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::Io);
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(written == 3);
  CHECK(fs::file_size(folder.path() / "a") == 900);
}
