#include "pipeline/shared/printable.h"

#include <doctest/doctest.h>

using namespace contorno;

TEST_CASE("passwords in addresses are masked, and nothing else") {
  CHECK(masked("rtsp://user:secret@host:554/a") == "rtsp://user:***@host:554/a");
  CHECK(masked("open rtsp://user:secret@host, then http://a:b@c/d") ==
        "open rtsp://user:***@host, then http://a:***@c/d");
  CHECK(masked("'rtsp://user:p@ss:w@host/x@y'") == "'rtsp://user:***@host/x@y'");
  CHECK(masked("rtsp://user:a/b?c#d@host/") == "rtsp://user:***@host/");
  CHECK(masked("rtsp://user:12\"34@host/") == "rtsp://user:***@host/");
  CHECK(masked("rtsp://:secret@host/") == "rtsp://:***@host/");
  CHECK(masked("http://proxy/?to=rtsp://u:secret@host/") == "http://proxy/?to=rtsp://u:***@host/");
  for (const char* harmless :
       {"rtsp://host:554/stream@2", "rtsp://user@host/", "http://host/a:b@c", "mail a:b@c", "a://b:c",
        "{\"rtsp://host:554\",\"a@b\"}", "http://host:80", "C:\\a@b", "://", "",
        "x://:", "key=value pass=2 bypass=1 token-count 3", "user-pw=", "a password is wanted", "tokens: 4"})
    CHECK(masked(harmless) == harmless);
}

TEST_CASE("the values of properties that are secret by their names are masked wherever they stand") {
  for (const auto& [given, shown] : std::initializer_list<std::pair<const char*, const char*>>{
           {"rtspsrc user-id=me user-pw=geheim latency=0 ! x",
            "rtspsrc user-id=me user-pw=*** latency=0 ! x"},
           {"rtspsrc user-pw = geheim ! x", "rtspsrc user-pw = *** ! x"},
           {"a password=\"ge heim\" b", "a password=\"***\" b"},
           {"'user-pw=\"ge heim\"' b", "'user-pw=\"***\"' b"},
           {"properties: \"user-pw=geheim\"\ncaps: x", "properties: \"user-pw=***\"\ncaps: x"},
           {"{\"text\": \"a user-pw=\\\"ge heim\\\" b\"}", "{\"text\": \"a user-pw=\\\"***\\\" b\"}"},
           {"Passphrase=ge\\ heim x", "Passphrase=*** x"},
           {"s, credentials=(string)geheim, x=1", "s, credentials=(string)*** x=1"},
           {"source: {type: gst, password: ge heim, caps: x}", "source: {type: gst, password: ***, caps: x}"},
           {"  access_token: geheim\nnext", "  access_token: ***\nnext"},
           {"{\"client-secret\": \"ge,heim\"}", "{\"client-secret\": \"***\"}"},
           {"awss3src secret-access-key=geheim session-token=auch",
            "awss3src secret-access-key=*** session-token=***"},
           {"--set source.properties=proxy-pw=geheim", "--set source.properties=proxy-pw=***"},
           {"location=rtsp://u:geheim@h/ user-pw=auch", "location=rtsp://u:***@h/ user-pw=***"},
           {"user-pw=\"geheim", "user-pw=\"***"},
           {"srt://h:1?passphrase=geheim&mode=caller", "srt://h:1?passphrase=***&mode=caller"}}) {
    CAPTURE(given);
    CHECK(masked(given) == shown);
    CHECK(masked(shown) == shown);
  }
}

TEST_CASE("secret parts of a query are masked") {
  CHECK(masked("http://h/x?token=abc&size=3") == "http://h/x?token=***&size=3");
  CHECK(masked("http://h/x?a=1&amp;Password=abc&amp;b=2") == "http://h/x?a=1&amp;Password=***&amp;b=2");
  CHECK(masked("rtsp://1.2.3.4:554/user=admin&password=abc&channel=1") ==
        "rtsp://1.2.3.4:554/user=admin&password=***&channel=1");
  CHECK(masked("rtsp://1.2.3.4/user=admin_password=abc_channel=1") ==
        "rtsp://1.2.3.4/user=admin_password=***");
  CHECK(masked("\"https://h/?X-Amz-Signature=abc\" next") == "\"https://h/?X-Amz-Signature=***\" next");
  CHECK(masked("http://u:one@h/?access_token=two") == "http://u:***@h/?access_token=***");
  for (const char* harmless : {"http://h/?keyframes=2&bypass=1", "http://h/?token=", "http://h/?token=&a=b"})
    CHECK(masked(harmless) == harmless);
}

TEST_CASE("masking twice changes nothing, and the whole address is seen before text is cut") {
  const std::string once = masked("rtsp://user:secret@host/?token=abc");
  CHECK(masked(once) == once);
  CHECK(printable("rtsp://user:secret@host/", 15) == "rtsp://user:***...");
}

TEST_CASE("what is printable is one line without colours") {
  CHECK(printable("a\nb\tc\r\x1b[31m\x7f") == "a\\nb\\tc\\r\\x1b[31m\\x7f");
  CHECK(printable("\xff h\xc3\xb6he \xc2\x85") == "\\xff h\xc3\xb6he \\xc2\\x85");
  CHECK(printable("a\xe2\x80\xae"
                  "b\xe2\x80\xa8"
                  "c") == "a\\u202eb\\u2028c");
  CHECK(printable("12345", 3) == "123...");
  CHECK(printable_lines("a\x1b\n\nb\r") == "a\\x1b\n\nb\\r");
}
