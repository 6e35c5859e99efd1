// The login of a route in a file: which files are taken, and that a sentence never has what is in one.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"
#include "plugins/publish/access.h"

using namespace contorno;

namespace {

namespace fs = std::filesystem;
constexpr AddressScheme kTestScheme{.plain = "mq", .tls = "mqs", .plain_port = 1, .tls_port = 2};

/// A file with a login that goes with the test.
class LoginFile {
 public:
  explicit LoginFile(const std::string& content, mode_t mode = 0600)
      : folder_(fs::temp_directory_path() / ("contorno-login-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
    std::ofstream(path(), std::ios::binary) << content;
    ::chmod(path().c_str(), mode);
  }
  ~LoginFile() { fs::remove_all(folder_); }
  LoginFile(const LoginFile&) = delete;
  LoginFile& operator=(const LoginFile&) = delete;
  std::string path() const { return (folder_ / "login").string(); }
  std::string folder() const { return folder_.string(); }

 private:
  fs::path folder_;
};

/// "CODE SENTENCE" of what is refused, empty where the file is taken.
std::string refusal_of(const std::string& given) {
  try {
    read_credentials(given);
    return {};
  } catch (const Error& error) {
    return std::to_string(static_cast<int>(error.code())) + " " + error.what();
  }
}
std::string refusal_of_content(const std::string& content, mode_t mode = 0600) {
  const LoginFile file(content, mode);
  return refusal_of(file.path());
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

BrokerAccess access(const std::string& address, const std::string& file = {}, const std::string& ca = {}) {
  return access_of({.address = address, .credentials = file, .ca = ca}, kTestScheme);
}
std::string refused_access(const std::string& address, const std::string& file = {},
                           const std::string& ca = {}) {
  try {
    access(address, file, ca);
    return {};
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::BadConfig);
    return error.what();
  }
}

}  // namespace

TEST_CASE("a file of credentials has lines with keys, or a password alone") {
  struct Row {
    std::string content, user, password, mechanism;
  };
  for (const Row& row :
       {Row{"user=line\npassword=s=cr t#\n", "line", "s=cr t#", ""},
        Row{"password=x\r\n\nuser=line\r\nmechanism=SCRAM-SHA-512", "line", "x", "SCRAM-SHA-512"},
        Row{"geheim", "", "geheim", ""}, Row{"a=b\n", "", "a=b", ""},
        Row{"password=user=x\n", "", "user=x", ""}, Row{"pässwörd\n\n", "", "pässwörd", ""}}) {
    const LoginFile file(row.content);
    const Credentials read = read_credentials(file.path());
    CHECK(read.user == row.user);
    CHECK(read.password == row.password);
    CHECK(read.mechanism == row.mechanism);
  }
}

TEST_CASE("a file of credentials that is wrong is refused without its content") {
  struct Row {
    std::string content, said;
  };
  for (const Row& row :
       {Row{"", "78 the file of credentials is empty"}, Row{"\n\n", "is empty"},
        Row{"user=line\ntellnobody\n", "has in line 2 neither user=, password= nor mechanism="},
        Row{"tellnobody\nuser=line\n", "has in line 1 neither"},
        Row{"password=tellnobody\npassword=b\n", "has password= twice, again in line 2"},
        Row{"user=line\n", "has no password"}, Row{"password=\nuser=tellnobody\n", "has no password"},
        Row{"user=a\npassword=tell\tnobody\n", "has a control character in line 2"},
        Row{std::string("tellnobody\0x", 12), "has a control character in line 1"},
        Row{std::string(4097, 't'), "has more than 4096 bytes"}}) {
    const std::string said = refusal_of_content(row.content);
    CHECK_MESSAGE(has(said, row.said), said);
    CHECK_FALSE(has(said, "tell"));
  }
  CHECK(refusal_of_content(std::string(4096, 't')).empty());
}

TEST_CASE(
    "a file of credentials that everybody may read or write is refused, unless its folder is a service's") {
  CHECK(has(refusal_of_content("x", 0644), "its mode is 0644); chmod o-rw"));
  CHECK(has(refusal_of_content("x", 0602), "its mode is 0602); chmod o-rw"));
  CHECK(refusal_of_content("x", 0640).empty());
  const LoginFile file("x", 0444);
  ::setenv("CREDENTIALS_DIRECTORY", file.folder().c_str(), 1);
  CHECK(refusal_of("login").empty());
  CHECK(has(refusal_of("hunter2"), "66 the file of credentials cannot be read in $CREDENTIALS_DIRECTORY ("));
  CHECK_FALSE(has(refusal_of("hunter2"), "hunter2"));
  CHECK(has(refusal_of(".."), "78 the file of credentials is no regular file"));
  ::unsetenv("CREDENTIALS_DIRECTORY");
  CHECK(has(refusal_of("login"), "66 the file of credentials has a name without '/'"));
  CHECK(has(refusal_of("./hunter2"), "66 the file of credentials cannot be read: No such file"));
  CHECK_FALSE(has(refusal_of("./hunter2"), "hunter2"));
  CHECK(has(refusal_of("/dev/null"), "is no regular file"));
}

TEST_CASE("a login is in the address or in a file, and its user in one of both") {
  const LoginFile whole("user=line\npassword=x\n");
  CHECK(access("mq://h/p", whole.path()).login.user == "line");
  CHECK(has(refused_access("mq://other@h/p", whole.path()), "the address has a user"));
  CHECK(has(refused_access("mq://line:y@h/p", whole.path()), "the address has a password"));
  const BrokerAccess open = access("mq://line:a%40b@h/p");
  CHECK(open.login.user == "line");
  CHECK(open.login.password == "a@b");
  CHECK(access("mq://h/p").login.password.empty());
}

TEST_CASE("a password alone goes with the user of the address") {
  const LoginFile alone("x\n");
  const BrokerAccess both = access("mq://line@h/p", alone.path());
  CHECK(both.login.user == "line");
  CHECK(both.login.password == "x");
}

TEST_CASE("what a kind of broker or a line without TLS does not have is refused") {
  CHECK(access("mqs://h/p", "", "ca.pem").address.port == 2);
  CHECK(access("mqs://h/p").address.has_tls);
  CHECK_FALSE(access("mq://h/p").address.has_tls);
  CHECK(access("mq://h/p").address.port == 1);
  CHECK(has(refused_access("mq://h/p", "", "ca.pem"), "write mqs://, or leave the file out"));
  CHECK(has(refused_access("http://h/p"), "begin with mq:// or mqs://"));
  const LoginFile file("user=a\npassword=b\nmechanism=PLAIN\n");
  CHECK(has(refused_access("mq://h/p", file.path()), "the file of credentials has a mechanism"));
}

TEST_CASE("a host in numbers with colons stands in brackets, in the address and in what is shown") {
  CHECK(access("mq://[::1]/p").address.host == "::1");
  CHECK(access("mq://[::1]/p").address.place() == "[::1]:1");
  CHECK(access("mq://u:x@[fe80::2]:77/p").address.place() == "[fe80::2]:77");
  CHECK(access("mq://10.0.0.1:77/p").address.place() == "10.0.0.1:77");
  CHECK(has(refused_access("mq://[::1/p"), "the host has no ']'"));
  CHECK(has(refused_access("mq://[::1]x/p"), "behind the host's ']'"));
  CHECK(has(refused_access("mq://[::1]77/p"), "behind the host's ']'"));
}
