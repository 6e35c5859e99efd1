// The module deep: libav's decoders, and its scaler, which makes 16 bits of all deep samples.
extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}
#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <string_view>

#include "base/error.h"
#include "pipeline/shared/module.h"
#include "plugins/gst/deep/decoder.h"

namespace contorno::gst {
namespace {

struct Free {
  void operator()(AVCodecContext* context) const { avcodec_free_context(&context); }
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
  void operator()(SwsContext* scaler) const { sws_freeContext(scaler); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

template <class T>
Owned<T> checked(T* made) {
  if (made == nullptr) throw Error(ExitCode::OutOfMemory, "no memory for a decoder of libav");
  return Owned<T>(made);
}

std::string reason_of(int error) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(error, text, sizeof(text));
  return text;
}

DeepSamples samples_of(const AVPixFmtDescriptor& format) {
  const bool rgb =
      (format.flags & AV_PIX_FMT_FLAG_RGB) != 0 || std::string_view(format.name).starts_with("xyz");
  if (rgb) return DeepSamples::Rgba;
  return format.nb_components <= 2 ? DeepSamples::Grey : DeepSamples::Yuv444;
}

AVPixelFormat format_for(DeepSamples samples) {
  constexpr bool kLittle = std::endian::native == std::endian::little;
  switch (samples) {
    case DeepSamples::Grey:
      return kLittle ? AV_PIX_FMT_GRAY16LE : AV_PIX_FMT_GRAY16BE;
    case DeepSamples::Rgba:
      return kLittle ? AV_PIX_FMT_RGBA64LE : AV_PIX_FMT_RGBA64BE;
    case DeepSamples::Yuv444:
      return kLittle ? AV_PIX_FMT_YUV444P16LE : AV_PIX_FMT_YUV444P16BE;
  }
  throw InternalError("samples of no kind");
}

class LibavDecoder final : public DeepDecoder {
 public:
  LibavDecoder(const AVCodec* codec, std::span<const std::uint8_t> header, int width, int height)
      : context_(checked(avcodec_alloc_context3(codec))),
        decoded_(checked(av_frame_alloc())),
        converted_(checked(av_frame_alloc())),
        packet_(checked(av_packet_alloc())) {
    context_->width = width, context_->height = height;
    context_->thread_type = FF_THREAD_SLICE;  // frames come out as they go in
    context_->thread_count = 0;
    if (!header.empty()) {
      context_->extradata =
          static_cast<std::uint8_t*>(av_mallocz(header.size() + AV_INPUT_BUFFER_PADDING_SIZE));
      if (context_->extradata == nullptr)
        throw Error(ExitCode::OutOfMemory, "no memory for a stream's header");
      std::memcpy(context_->extradata, header.data(), header.size());
      context_->extradata_size = static_cast<int>(header.size());
    }
    if (const int error = avcodec_open2(context_.get(), codec, nullptr); error < 0)
      throw Error(ExitCode::BadData,
                  fmt::format("libav's decoder {} does not start: {}", codec->name, reason_of(error)));
  }

  bool send(std::span<const std::uint8_t> packet, std::int64_t number, bool key, std::string& why) override {
    av_packet_unref(packet_.get());
    if (!packet.empty()) {
      if (av_new_packet(packet_.get(), static_cast<int>(packet.size())) < 0)
        throw Error(ExitCode::OutOfMemory, "no memory for a packet of the video");
      std::memcpy(packet_->data, packet.data(), packet.size());
      // libav's PNG decoder adds the picture before to a packet without it.
      if (key) packet_->flags |= AV_PKT_FLAG_KEY;
    }
    packet_->pts = number;  // comes out with its frame
    const int error = avcodec_send_packet(context_.get(), packet.empty() ? nullptr : packet_.get());
    if (error >= 0 || error == AVERROR_EOF) return true;
    why = reason_of(error);
    return false;
  }

  std::optional<DeepPicture> receive() override {
    if (avcodec_receive_frame(context_.get(), decoded_.get()) < 0) return std::nullopt;
    const auto* format = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(decoded_->format));
    if (format == nullptr) throw Error(ExitCode::BadData, "libav decodes to samples without a name");
    DeepPicture picture{.samples = samples_of(*format), .width = decoded_->width, .height = decoded_->height};
    convert(*format, format_for(picture.samples));
    for (std::size_t plane = 0; plane < picture.planes.size(); ++plane) {
      picture.planes[plane] = converted_->data[plane];
      picture.pitches[plane] = converted_->linesize[plane];
    }
    picture.number = decoded_->pts;
    picture.matrix = decoded_->colorspace;
    picture.range = decoded_->color_range;
    picture.damaged = decoded_->decode_error_flags != 0 || (decoded_->flags & AV_FRAME_FLAG_CORRUPT) != 0;
    return picture;
  }

  void flush() override { avcodec_flush_buffers(context_.get()); }

 private:
  void convert(const AVPixFmtDescriptor& from, AVPixelFormat to) {
    const int width = decoded_->width, height = decoded_->height;
    scaler_.reset(sws_getCachedContext(
        scaler_.release(), width, height, static_cast<AVPixelFormat>(decoded_->format), width, height, to,
        SWS_BILINEAR | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INP, nullptr, nullptr, nullptr));
    if (!scaler_)
      throw Error(ExitCode::BadData,
                  fmt::format("its samples, {} in libav's words, cannot be made 16 bits", from.name));
    if (converted_->width != width || converted_->height != height || converted_->format != to) {
      av_frame_unref(converted_.get());
      converted_->width = width, converted_->height = height, converted_->format = to;
      if (av_frame_get_buffer(converted_.get(), 0) < 0)
        throw Error(ExitCode::OutOfMemory, fmt::format("no memory for a picture of {} x {}", width, height));
    }
    sws_scale(scaler_.get(), decoded_->data, decoded_->linesize, 0, height, converted_->data,
              converted_->linesize);
  }

  Owned<AVCodecContext> context_;
  Owned<AVFrame> decoded_, converted_;
  Owned<AVPacket> packet_;
  Owned<SwsContext> scaler_;
};

std::unique_ptr<DeepDecoder> make_decoder(const std::string& name, std::span<const std::uint8_t> header,
                                          int width, int height) {
  const AVCodec* codec = avcodec_find_decoder_by_name(name.c_str());
  if (codec == nullptr) throw Error(ExitCode::Unavailable, fmt::format("libav has no decoder '{}'", name));
  return std::make_unique<LibavDecoder>(codec, header, width, height);
}

constexpr DeepModule kTable{.make_decoder = make_decoder};

}  // namespace
}  // namespace contorno::gst

CONTORNO_MODULE(contorno::gst::kTable);
