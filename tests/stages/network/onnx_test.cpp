// The reader of models on damaged files, the checksum, and what makes probabilities of logits.
#include "stages/network/onnx.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "stages/network/activation.h"
#include "stages/network/sha256.h"

using namespace contorno;

namespace {

/// A message of Protocol Buffers, written field after field.
struct Message {
  std::string bytes;

  Message& varint(std::uint64_t value) {
    for (; value > 127; value >>= 7) bytes += static_cast<char>(value | 128);
    bytes += static_cast<char>(value);
    return *this;
  }
  Message& number(int field, std::int64_t value) {
    return varint(static_cast<std::uint64_t>(field) << 3).varint(static_cast<std::uint64_t>(value));
  }
  Message& text(int field, const std::string& value) {
    varint(static_cast<std::uint64_t>(field) << 3 | 2).varint(value.size());
    bytes += value;
    return *this;
  }
};

std::string value_info(const char* name, const std::vector<std::int64_t>& sides) {
  Message shape;
  for (const std::int64_t side : sides)
    shape.text(1, side > 0 ? Message().number(1, side).bytes : Message().text(2, "any").bytes);
  const std::string tensor = Message().number(1, 1).text(2, shape.bytes).bytes;
  return Message().text(1, name).text(2, Message().text(1, tensor).bytes).bytes;
}

std::string scales(const std::vector<float>& numbers) {
  std::string raw(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float));
  return Message()
      .number(1, static_cast<std::int64_t>(numbers.size()))
      .number(2, 1)
      .text(8, "scales")
      .text(9, raw)
      .bytes;
}

std::string attribute(const char* name, const char* text) {
  return Message().text(1, name).text(4, text).number(20, 3).bytes;
}

/// A Resize by 2, or 1.5, with opset 13.
std::string resize_model(float scale) {
  const std::string node = Message()
                               .text(1, "image")
                               .text(1, "")
                               .text(1, "scales")
                               .text(2, "maps")
                               .text(3, "up")
                               .text(4, "Resize")
                               .text(5, attribute("mode", "linear"))
                               .bytes;
  const std::string graph = Message()
                                .text(1, node)
                                .text(2, "net")
                                .text(5, scales({1, 1, scale, scale}))
                                .text(11, value_info("image", {1, 3, -1, 16}))
                                .text(11, value_info("scales", {4}))
                                .text(12, value_info("maps", {1, 3, -1, 32}))
                                .bytes;
  return Message()
      .number(1, 8)
      .text(2, "test")
      .text(7, graph)
      .text(8, Message().text(1, "").number(2, 13).bytes)
      .bytes;
}

/// Whether a file is read, or refused with a sentence; anything else throws.
bool is_read(const std::string& file) {
  try {
    read_onnx(file);
    return true;
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::BadData);
    return false;
  }
}

}  // namespace

TEST_CASE("a model says its opset, its ends, and the forms of its nodes") {
  const OnnxModel model = read_onnx(resize_model(2));
  CHECK(model.opset == 13);
  CHECK(model.producer == "test");
  REQUIRE(model.inputs.size() == 1);  // a weight that is listed as an input is none
  CHECK(model.inputs[0].name == "image");
  CHECK(model.inputs[0].sides == std::vector<std::int64_t>{1, 3, OnnxValue::kAnySide, 16});
  REQUIRE(model.nodes.size() == 1);
  CHECK(model.nodes[0].description() == "node 'up' (Resize, linear,half_pixel,whole)");
  CHECK(read_onnx(resize_model(1.5F)).nodes[0].form == "linear,half_pixel,fraction");
}

TEST_CASE("damaged models are read or refused, whatever is damaged") {
  const std::string whole = resize_model(2);
  int read = 0;
  for (std::size_t count = 0; count < whole.size(); ++count) read += is_read(whole.substr(0, count)) ? 1 : 0;
  CHECK(read < 3);  // only where it ends between fields behind the graph
  std::mt19937 random(2026);
  const auto below = [&](std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
  };
  int refused = 0;
  for (int trial = 0; trial < 50'000; ++trial) {
    std::string damaged = whole;
    for (std::size_t changes = 1 + below(4); changes > 0; --changes)
      damaged[below(damaged.size())] = static_cast<char>(below(256));
    if (below(4) == 0)
      damaged.insert(below(damaged.size()), std::string(1 + below(12), static_cast<char>(below(256))));
    refused += is_read(damaged) ? 0 : 1;
  }
  CHECK(refused > 5'000);
  // A length that is far beyond the file, and a number without an end.
  CHECK_FALSE(is_read(Message().varint(7 << 3 | 2).varint(std::uint64_t{1} << 62).bytes));
  CHECK_FALSE(is_read(std::string(64, '\xff')));
}

TEST_CASE("a model of more nodes than are allowed is refused") {
  const std::string node = Message().text(4, "Relu").bytes;
  Message graph;
  for (std::size_t i = 0; i <= kMaxOnnxNodes; ++i) graph.text(1, node);
  CHECK_FALSE(is_read(Message().number(1, 8).text(7, graph.bytes).bytes));
}

TEST_CASE("SHA-256 is that of FIPS 180") {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("the exponential function of activations is that of the C library to its last places") {
  for (int i = 0; i < 700'000; ++i) {
    const double x = -i / 1000.0, truth = std::exp(x);
    if (!(std::abs(exp_of_negative(x) - truth) <= 4e-16 * truth)) CHECK(exp_of_negative(x) == truth);
  }
  CHECK(exp_of_negative(0) == 1);
  CHECK(exp_of_negative(-1e300) == 0);
  CHECK(std::isnan(exp_of_negative(std::nan(""))));
}

TEST_CASE("softmax and sigmoid are those of double precision, and their sums are 1") {
  std::mt19937 random(4);
  std::normal_distribution<float> normal(0, 8);
  for (int trial = 0; trial < 2000; ++trial) {
    constexpr int kChannels = 5, kStep = 3;
    float values[kChannels * kStep];
    double weights[kChannels], sum = 0;
    for (int c = 0; c < kChannels; ++c) {
      values[c * kStep] = normal(random);
      sum += weights[c] = std::exp(static_cast<double>(values[c * kStep]));
    }
    CHECK(sigmoid_of(values[0]) ==
          doctest::Approx(1 / (1 + std::exp(-static_cast<double>(values[0])))).epsilon(1e-7));
    softmax(values, kChannels, kStep);
    double total = 0;
    for (int c = 0; c < kChannels; ++c) {
      CHECK(values[c * kStep] == doctest::Approx(weights[c] / sum).epsilon(1e-7));
      total += static_cast<double>(values[c * kStep]);
    }
    CHECK(total == doctest::Approx(1).epsilon(1e-6));
  }
  float far[] = {1e30F, -1e30F, 0};
  softmax(far, 3, 1);
  CHECK(far[0] == 1);
  CHECK(far[1] == 0);
}
