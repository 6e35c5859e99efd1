#include "pipeline/run/ops_settings.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>

using namespace contorno;

TEST_CASE("an address to listen on is a number and a port") {
  const auto address = [](const char* text) {
    const std::optional<ListenAddress> read = listen_address(text);
    return read ? read->host + " " + std::to_string(read->port) + (read->is_loopback ? " here" : " remote")
                : "";
  };
  CHECK(address("127.0.0.1:9464") == "127.0.0.1 9464 here");
  CHECK(address("127.3.2.1:0") == "127.3.2.1 0 here");
  CHECK(address("localhost:80") == "127.0.0.1 80 here");
  CHECK(address("[::1]:65535") == "::1 65535 here");
  CHECK(address("0.0.0.0:1") == "0.0.0.0 1 remote");
  CHECK(address("192.168.1.5:9464") == "192.168.1.5 9464 remote");
  CHECK(address("[::]:9464") == ":: 9464 remote");
  CHECK(address("[::2]:9464") == "::2 9464 remote");
  CHECK(address("[::ffff:127.0.0.1]:9464") == "::ffff:127.0.0.1 9464 remote");
  for (const char* wrong :
       {"", ":", "9464", ":9464", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
        "127.0.0.1:94 ", "127.0.0.1:0x50", "127.1:80", "localhost", "example.org:80", "::1:80", "[::1]",
        "[127.0.0.1]:80", "[]:80", "127.0.0.1:80:90", " 127.0.0.1:80"}) {
    CAPTURE(wrong);
    CHECK(address(wrong) == "");
  }
}
