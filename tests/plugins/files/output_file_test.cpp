#include "plugins/files/shared/output_file.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <string>

#include "base/error.h"
#include "plugins/files/shared/part_files.h"
#include "plugins/files/shared/path_pattern.h"
#include "tests/file_content.h"
#include "tests/temporary_folder.h"

using namespace contorno;
namespace fs = std::filesystem;

namespace {
std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

/// The sentence of the error that `action` throws, with its code: "73: cannot create ...".
template <class Action>
std::string complaint(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return std::to_string(static_cast<int>(error.code())) + ": " + error.what();
  }
  return "none";
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
  OutputFile first(path, Completion::Rename);
  first.write("one");
  OutputFile moved = std::move(first);
  moved.complete();
  CHECK(content(path) == "one");
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

TEST_CASE("a file that is being written is refused to everybody else") {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "a.jsonl").string();
  for (const Completion completion : {Completion::InPlace, Completion::Rename}) {
    OutputFile first(path, completion);
    first.write("first");
    const std::string said = complaint([&] { OutputFile(path, Completion::Rename); });
    CHECK(said.starts_with("73: cannot create '" + path + "': it is being written by another run (into '" +
                           path));
    CHECK(said == complaint([&] { OutputFile(path, Completion::InPlace); }));
    first.complete();
    CHECK(content(path) == "first");
    OutputFile(path, completion).abandon();  // now it may
  }
}

TEST_CASE("what a killed run left is removed, and half a recording is kept under its own extension") {
  const TemporaryFolder folder;
  const fs::path part = folder.path() / "a.mkv.part123-7", other = folder.path() / "b.mkv.part123-8";
  const auto leave = [&] {
    std::ofstream(part) << "half";
    std::ofstream(other) << "of another file";
  };
  leave();
  std::vector<Leftover> told;
  const TellLeftover tell = [&](const Leftover& one) {
    CHECK(fs::exists(one.part));  // nothing has gone yet
    CHECK(!fs::exists(one.kept));
    told.push_back(one);
  };
  {
    OutputFile file(folder.path() / "a.mkv", Completion::Rename, {}, tell);
    REQUIRE(told.size() == 1);
    CHECK(told[0].part == part);
    CHECK(told[0].kept.empty());
  }
  CHECK(entries(folder.path()) == 1);
  leave();
  std::ofstream(folder.path() / "a.unfinished.mkv") << "from before";
  std::ofstream(folder.path() / "a.mkv.part5-5");  // empty: nothing is lost with it
  std::ofstream(folder.path() / "a.mkv.part5") << "no name of a temporary file";
  {
    OutputFile file(folder.path() / "a.mkv", Completion::Recording, {}, tell);
    REQUIRE(told.size() == 3);
    file.write("half of the next");
    CHECK(file.keep_unfinished() == folder.path() / "a.unfinished-3.mkv");
  }
  CHECK(content(folder.path() / "a.unfinished.mkv") == "from before");
  CHECK(content(folder.path() / "a.unfinished-2.mkv") == "half");
  CHECK(content(folder.path() / "a.unfinished-3.mkv") == "half of the next");
  CHECK(content(other) == "of another file");
  CHECK(content(folder.path() / "a.mkv.part5") == "no name of a temporary file");
  CHECK(entries(folder.path()) == 5);
}

TEST_CASE("runs that write a series into one folder do not wait for each other") {
  const TemporaryFolder folder;
  const fs::path dead = folder.path() / "a.part123-7";
  std::ofstream(dead) << "half";
  {
    const FolderLock other(folder.path(), FolderLock::Kind::Shared);  // of a run that begins a file
    OutputFile file(folder.path() / "a", Completion::SharedSeries);
    CHECK(fs::exists(dead));  // nor do they look through the folder for each file
    file.write("whole");
    CHECK(!fs::exists(folder.path() / "a"));
    file.complete();
  }
  CHECK(content(folder.path() / "a") == "whole");
}

TEST_CASE("a published file has its name, and records are added to it") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.jsonl";
  { const OutputFile never(path, Completion::Rename); }
  CHECK(entries(folder.path()) == 0);
  OutputFile file(path, Completion::Rename);
  CHECK(!fs::exists(path));
  file.publish();
  file.write("one");
  CHECK(content(path) == "one");
  CHECK(complaint([&] { OutputFile(path, Completion::InPlace); }).starts_with("73: "));
  file.write(" two");
  file.abandon();
  CHECK(content(path) == "one two");
  CHECK(entries(folder.path()) == 1);
}

TEST_CASE("a file that is deleted or moved while it is written is an error, not a success") {
  for (const Completion completion : {Completion::InPlace, Completion::Rename, Completion::Series}) {
    const TemporaryFolder folder;
    const fs::path path = folder.path() / "sub" / "a";
    OutputFile deleted(path, completion);
    deleted.write("x");
    fs::remove_all(path.parent_path());
    CHECK(complaint([&] { deleted.complete(); }) ==
          "74: '" + path.string() + "' was deleted while it was written");
    OutputFile moved(path, completion);
    moved.write("x");
    fs::rename(path.parent_path(), folder.path() / "elsewhere");
    CHECK(complaint([&] { moved.complete(); }) ==
          "74: '" + path.string() + "' was moved or replaced while it was written");
  }
  // Soon after, not only at the end.
  const TemporaryFolder folder;
  OutputFile file(folder.path() / "a", Completion::InPlace);
  fs::remove(folder.path() / "a");
  std::string said = "none";
  for (int i = 0; i < 40 && said == "none"; ++i) {
    said = complaint([&] { file.write("x"); });
    ::usleep(50'000);
  }
  CHECK(said == "74: '" + (folder.path() / "a").string() + "' was deleted while it was written");
}

TEST_CASE("a pipe is waited for as long as patience lasts, and less when the run is to end") {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "pipe").string();
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const Patience patience{.limit = std::chrono::milliseconds(60)};
  CHECK(complaint([&] { OutputFile(path, Completion::InPlace, patience); }) ==
        "73: cannot create '" + path + "': nobody has opened the pipe for reading for 0.06 s (sink_timeout)");
  const std::atomic<bool> stopping = true;
  const auto begin = std::chrono::steady_clock::now();
  const Patience ending{.limit = std::chrono::hours(1), .stopping = &stopping};
  CHECK(complaint([&] { OutputFile(path, Completion::InPlace, ending); }) ==
        "73: cannot create '" + path + "': nobody has opened the pipe for reading when the run was to end");
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::minutes(10));

  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  OutputFile file(path, Completion::InPlace, patience);
  const std::string record(10'000, 'r');
  std::size_t written = 0;
  std::string said = "none";
  while (said == "none") {
    said = complaint([&] { file.write(record); });
    written += said == "none" ? 1 : 0;
  }
  CHECK(said == "74: cannot write '" + path + "': nobody took what was written for 0.06 s (sink_timeout)");
  CHECK(written >= 5);  // a pipe holds 64 KiB
  CHECK(written < 7);
  const auto handler = std::signal(SIGPIPE, SIG_IGN);  // as programs that run graphs do
  ::close(reader);
  CHECK(complaint([&] { file.write(record); }) == "74: cannot write '" + path + "': Broken pipe");
  std::signal(SIGPIPE, handler);
}

TEST_CASE("the output folder is made, or it is said why not") {
  const TemporaryFolder folder;
  make_output_folder(folder.path() / "a/b");
  make_output_folder(folder.path() / "a/b");
  CHECK(fs::is_directory(folder.path() / "a/b"));
  const std::string file = (folder.path() / "file").string();
  std::ofstream(file) << "x";
  CHECK(complaint([&] { make_output_folder(file); }) ==
        "73: cannot create the output folder '" + file + "': there is a file of this name");
  CHECK(complaint([&] { make_output_folder(file + "/x"); }) ==
        "73: cannot create the output folder '" + file + "/x': Not a directory");
  const fs::path before = fs::current_path();
  fs::create_directory(folder.path() / "gone");
  fs::current_path(folder.path() / "gone");
  fs::remove(folder.path() / "gone");
  const std::string here = complaint([&] { make_output_folder("."); });
  const std::string below = complaint([&] { make_output_folder("out"); });
  const std::string path = complaint([&] { resolve_output(".", "a.jsonl"); });
  fs::current_path(before);
  CHECK(here == "73: cannot create the output folder '.': No such file or directory");
  CHECK(below == "73: cannot create the output folder 'out': No such file or directory");
  CHECK(path == "73: cannot create '.': No such file or directory");
}

TEST_CASE("patterns know whether their paths can be the same") {
  CHECK(PathPattern("a/{name}.png").repeats());
  CHECK(PathPattern("a.png").repeats());
  CHECK_FALSE(PathPattern("a/{name}-{frame}.png").repeats());
  const auto meet = [](const char* a, const char* b) { return PathPattern(a).may_meet(PathPattern(b)); };
  CHECK(meet("{name}.png", "{frame:06}.png"));
  CHECK(meet("{name}.png", "{name}-x.png"));
  CHECK_FALSE(meet("a/{name}.png", "b/{name}.png"));
  CHECK_FALSE(meet("{name}.png", "{name}.svg"));
  CHECK(PathPattern("a/{name}.png").may_make("a/x.png"));
  CHECK_FALSE(PathPattern("a/{name}.png").may_make("a/x.svg"));
  CHECK_FALSE(PathPattern("a-{name}-a").may_make("a-a"));
}
