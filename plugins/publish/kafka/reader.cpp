// Reads a topic to its end, without a group of consumers, which would leave traces.
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugins/publish/kafka/client.h"

namespace contorno {
namespace {

struct DestroyConsumer {
  void operator()(rd_kafka_t* consumer) const { rd_kafka_destroy(consumer); }
};
struct DestroyTopic {
  void operator()(rd_kafka_topic_t* topic) const { rd_kafka_topic_destroy(topic); }
};
struct DestroyMetadata {
  void operator()(const rd_kafka_metadata_t* metadata) const { rd_kafka_metadata_destroy(metadata); }
};
struct DestroyMessage {
  void operator()(rd_kafka_message_t* message) const { rd_kafka_message_destroy(message); }
};

class TopicReader {
 public:
  explicit TopicReader(const RouteTarget& target)
      : access_(kafka_access(target)), timeout_ms_(static_cast<int>(target.timeout_ms)) {
    KafkaSettings settings(access_, target.ca);
    settings.set("enable.partition.eof", "true");
    settings.set("auto.offset.reset", "earliest");  // where the oldest are removed while they are read
    rd_kafka_conf_set_error_cb(settings.get(), [](rd_kafka_t*, int code, const char* reason, void* self) {
      if (says_why(code)) static_cast<TopicReader*>(self)->reason_ = reason;
    });
    rd_kafka_conf_set_opaque(settings.get(), this);
    consumer_.reset(settings.make(RD_KAFKA_CONSUMER));
    topic_.reset(rd_kafka_topic_new(consumer_.get(), access_.address.path.c_str(), nullptr));
    if (!topic_) check(rd_kafka_last_error());
  }

  void read(const TakeBrokerMessage& take) {
    for (const std::int32_t partition : partitions()) read_partition(partition, take);
  }

 private:
  std::vector<std::int32_t> partitions() {
    const rd_kafka_metadata_t* found = nullptr;
    const rd_kafka_resp_err_t code = rd_kafka_metadata(consumer_.get(), 0, topic_.get(), &found, timeout_ms_);
    const std::unique_ptr<const rd_kafka_metadata_t, DestroyMetadata> metadata(found);
    constexpr int kNow = 0;
    rd_kafka_poll(consumer_.get(), kNow);
    check(code);
    const rd_kafka_metadata_topic_t* const topic = metadata->topic_cnt == 1 ? metadata->topics : nullptr;
    if (topic == nullptr || topic->err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
      throw Error(ExitCode::MissingInput, fmt::format("Kafka at {} has no topic '{}'",
                                                      access_.address.place(), access_.address.path));
    check(topic->err);
    std::vector<std::int32_t> partitions;
    for (int i = 0; i < topic->partition_cnt; ++i) partitions.push_back(topic->partitions[i].id);
    return partitions;
  }

  void read_partition(std::int32_t partition, const TakeBrokerMessage& take) {
    std::int64_t begin = 0, end = 0;
    check(rd_kafka_query_watermark_offsets(consumer_.get(), access_.address.path.c_str(), partition, &begin,
                                           &end, timeout_ms_));
    if (begin >= end) return;
    if (rd_kafka_consume_start(topic_.get(), partition, begin) != 0) check(rd_kafka_last_error());
    const auto stop = [&](const void*) { rd_kafka_consume_stop(topic_.get(), partition); };
    const std::unique_ptr<const void, decltype(stop)> stopped(this, stop);
    for (bool is_over = false; !is_over;) is_over = !read_one(partition, end, take);
  }

  /// False: it was the last one.
  bool read_one(std::int32_t partition, std::int64_t end, const TakeBrokerMessage& take) {
    const std::unique_ptr<rd_kafka_message_t, DestroyMessage> message(
        rd_kafka_consume(topic_.get(), partition, timeout_ms_));
    if (!message) throw kafka_error(access_, "it does not answer in time");
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) return false;
    check(message->err);
    take({.camera = std::string(static_cast<const char*>(message->key), message->key_len),
          .body = {static_cast<const char*>(message->payload), message->len}});
    return message->offset + 1 < end;
  }

  void check(rd_kafka_resp_err_t code) const {
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
      throw kafka_error(access_, reason_.empty() ? rd_kafka_err2str(code) : reason_.c_str());
  }

  BrokerAccess access_;
  int timeout_ms_;
  std::string reason_;  // why there is no connection
  std::unique_ptr<rd_kafka_t, DestroyConsumer> consumer_;
  std::unique_ptr<rd_kafka_topic_t, DestroyTopic> topic_;
};

}  // namespace

void read_kafka(const RouteTarget& target, const TakeBrokerMessage& take) {
  TopicReader(target).read(take);
}

}  // namespace contorno
