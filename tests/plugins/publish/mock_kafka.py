"""A Kafka of librdkafka's mock cluster, in a process of its own: prints its address, then obeys lines of standard input:
    errors CODE...   the next requests Produce are answered with these codes
    down, up         the broker is away, is back"""
import ctypes
import sys

PRODUCE = 0  # the number of that request
PRODUCER = 0


def main():
    library = ctypes.CDLL("librdkafka.so.1")
    for name in ("rd_kafka_new", "rd_kafka_conf_new", "rd_kafka_mock_cluster_new"):
        getattr(library, name).restype = ctypes.c_void_p
    library.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p
    why = ctypes.create_string_buffer(256)
    client = ctypes.c_void_p(library.rd_kafka_new(PRODUCER, ctypes.c_void_p(library.rd_kafka_conf_new()), why, ctypes.c_size_t(256)))
    cluster = ctypes.c_void_p(library.rd_kafka_mock_cluster_new(client, 1))
    library.rd_kafka_mock_topic_create(cluster, b"line", 1, 1)
    print(library.rd_kafka_mock_cluster_bootstraps(cluster).decode(), flush=True)
    for line in sys.stdin:
        word, *codes = line.split()
        if word == "errors":
            errors = (ctypes.c_int * len(codes))(*map(int, codes))
            library.rd_kafka_mock_push_request_errors_array(cluster, ctypes.c_int16(PRODUCE), ctypes.c_size_t(len(codes)), errors)
        else:
            getattr(library, f"rd_kafka_mock_broker_set_{word}")(cluster, ctypes.c_int32(1))
        print("done", flush=True)


if __name__ == "__main__":
    main()
