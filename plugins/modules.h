// The modules that there are, each with what it does and needs: for who opens one, and for who lists them.
// Packages are named that every release of Debian has and that bring the library: the library's own package
// has another name in each.
#pragma once

#include "pipeline/shared/module.h"

namespace contorno {

inline constexpr std::size_t kMebibyte = std::size_t{1} << 20;

inline constexpr ModuleSpec kGstModule{.name = "gst",
                                       .does = "reads and writes media through GStreamer",
                                       .comes_with = "contorno-media",
                                       .packages = "libgstreamer1.0-0 libgstreamer-plugins-base1.0-0",
                                       .purpose = "for GStreamer",
                                       .addresses = 24 * kMebibyte};
inline constexpr ModuleSpec kTextModule{.name = "text",
                                        .does = "draws text through Pango",
                                        .comes_with = "contorno-media",
                                        .packages = "libpangocairo-1.0-0",
                                        .purpose = "to draw text",
                                        .addresses = 16 * kMebibyte};
inline constexpr ModuleSpec kTiffModule{.name = "tiff",
                                        .does = "reads and writes TIFF files",
                                        .comes_with = "contorno-arrays",
                                        .packages = "libtiff6",
                                        .purpose = "for TIFF files",
                                        .addresses = 8 * kMebibyte};
inline constexpr ModuleSpec kHdf5Module{.name = "hdf5",
                                        .does = "reads HDF5 files",
                                        .comes_with = "contorno-arrays",
                                        .packages = "hdf5-tools",
                                        .purpose = "for HDF5 files",
                                        .addresses = 16 * kMebibyte};
inline constexpr ModuleSpec kMatModule{.name = "mat",
                                       .does = "reads files of MATLAB",
                                       .comes_with = "contorno-arrays",
                                       .packages = "matio-tools",
                                       .purpose = "for files of MATLAB",
                                       .addresses = 16 * kMebibyte};
inline constexpr ModuleSpec kZarrModule{.name = "zarr",
                                        .does = "reads Zarr stores",
                                        .comes_with = "contorno-zarr",
                                        .packages = "gdal-bin",
                                        .purpose = "for Zarr stores",
                                        .addresses = 256 * kMebibyte};
inline constexpr ModuleSpec kOpencvModule{.name = "opencv",
                                          .does = "finds edges by Canny's detector",
                                          .comes_with = "contorno-media",
                                          .packages = "libopencv-imgproc-dev",
                                          .purpose = "to find edges",
                                          .addresses = 64 * kMebibyte};

inline constexpr ModuleSpec kDeepModule{.name = "deep",
                                        .does = "decodes samples that GStreamer has no name for",
                                        .comes_with = "contorno-media",
                                        .packages = "ffmpeg",
                                        .purpose = "to decode deep samples",
                                        .addresses = 256 * kMebibyte};

inline constexpr ModuleSpec kPublishModule{.name = "publish",
                                           .does = "keeps results in an outbox of SQLite",
                                           .comes_with = "contorno-publish",
                                           .packages = "libsqlite3-0",
                                           .purpose = "for an outbox",
                                           .addresses = 16 * kMebibyte};
inline constexpr ModuleSpec kRedisModule{.name = "redis",
                                         .does = "brings results to Redis and Valkey",
                                         .comes_with = "contorno-publish",
                                         .packages = "libhiredis-dev",
                                         .purpose = "for Redis",
                                         .addresses = 8 * kMebibyte};

inline constexpr ModuleSpec kMqttModule{.name = "mqtt",
                                        .does = "brings results to brokers of MQTT",
                                        .comes_with = "contorno-publish",
                                        .packages = "libmosquitto1",
                                        .purpose = "for MQTT",
                                        .addresses = 16 * kMebibyte};
inline constexpr ModuleSpec kKafkaModule{.name = "kafka",
                                         .does = "brings results to Kafka",
                                         .comes_with = "contorno-publish",
                                         .packages = "librdkafka1",
                                         .purpose = "for Kafka",
                                         .addresses = 64 * kMebibyte};

inline constexpr ModuleSpec kOpsModule{.name = "ops",
                                       .does = "answers questions about metrics and health over HTTP",
                                       .comes_with = "contorno",
                                       .packages = "libboost-dev",
                                       .purpose = "to answer over HTTP",
                                       .addresses = 8 * kMebibyte};

inline constexpr ModuleSpec kDnnModule{.name = "dnn",
                                       .does = "computes networks by OpenCV",
                                       .comes_with = "contorno-network",
                                       .packages = "libopencv-dnn-dev",
                                       .purpose = "to compute networks",
                                       .addresses = 256 * kMebibyte};

inline constexpr ModuleSpec kOnnxruntimeModule{.name = "onnxruntime",
                                               .does = "computes networks by ONNX Runtime",
                                               .comes_with = "contorno-network",
                                               .packages = "libonnxruntime-dev",
                                               .purpose = "to compute networks",
                                               .addresses = 256 * kMebibyte};

/// All of them, in the order in which they are listed.
inline constexpr const ModuleSpec* kModules[] = {
    &kGstModule,     &kTextModule,   &kTiffModule, &kHdf5Module,  &kMatModule,
    &kZarrModule,    &kOpencvModule, &kDeepModule, &kDnnModule,   &kOnnxruntimeModule,
    &kPublishModule, &kRedisModule,  &kMqttModule, &kKafkaModule, &kOpsModule};

}  // namespace contorno
