#include "plugins/files/video/gif_facts.h"

namespace contorno {
namespace {

/// GIF89a: blocks up to a trailer; every image descriptor is a frame.
class Gif {
 public:
  explicit Gif(Bytes& bytes) : bytes_(bytes) {
    facts_.times_ns.push_back(0);
    std::uint64_t at = kScreen + table_bytes(kScreen - 3);
    bool whole = true;
    while (whole && at < bytes.size()) {
      const std::uint64_t block = bytes.big_endian(at, 1);
      if (block == kTrailer) facts_.cut_off = false;
      if (block != kExtension && block != kImage) break;
      if (block == kExtension && bytes.big_endian(at + 1, 1) == kControl) read_delay(at);
      at += block == kExtension ? 2 : kDescriptor + table_bytes(at + kDescriptor - 1) + 1;
      at = behind_sub_blocks(at, whole);
      if (block == kImage && whole) add_frame(at);
    }
  }
  ContainerFacts facts() const { return facts_; }

 private:
  static constexpr std::uint64_t kScreen = 13, kDescriptor = 10, kTrailer = 0x3B, kExtension = 0x21,
                                 kImage = 0x2C, kControl = 0xF9;
  static constexpr std::int64_t kUnit = 10'000'000;  // ns, in which delays are given
  static constexpr std::int64_t kUsualDelay = 10,
                                kLeastDelay =
                                    2;  // players show a frame of a delay below the least for the usual one

  std::uint64_t table_bytes(std::uint64_t flags_at) {
    const std::uint64_t flags = bytes_.big_endian(flags_at, 1);
    return (flags & 0x80U) != 0 ? std::uint64_t{3} << ((flags & 7U) + 1) : 0;
  }
  void read_delay(std::uint64_t at) {
    constexpr std::uint64_t kDelayAt = 4;
    delay_ = static_cast<std::int64_t>(bytes_.little_endian(at + kDelayAt, 2));
  }
  /// Sub-blocks go on up to an empty one; `whole` is false where the file ends before it.
  std::uint64_t behind_sub_blocks(std::uint64_t at, bool& whole) {
    for (whole = false; !whole && at < bytes_.size();) {
      const std::uint64_t size = bytes_.big_endian(at, 1);
      at += 1 + size;
      whole = size == 0;
    }
    return at;
  }
  /// A delay is that of the one frame behind it.
  void add_frame(std::uint64_t end) {
    ++facts_.frames, facts_.whole_bytes = end;
    facts_.times_ns.push_back(facts_.times_ns.back() + kUnit * (delay_ < kLeastDelay ? kUsualDelay : delay_));
    delay_ = 0;
  }

  Bytes& bytes_;
  ContainerFacts facts_{.kind = ContainerKind::Gif, .cut_off = true, .frames = 0};
  std::int64_t delay_ = 0;
};

}  // namespace

ContainerFacts gif_facts(Bytes& bytes) {
  return Gif(bytes).facts();
}

}  // namespace contorno
