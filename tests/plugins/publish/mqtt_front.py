"""A listener before a broker of MQTT 3.1.1 that notes which messages have been acknowledged: what a broker does with them later is
not what is judged."""
import contextlib
import socket
import struct
import threading

PUBLISH, PUBACK = 3, 4  # kinds of packets


def read_packet(stream):
    """Kind, body and the whole as bytes; None at the end."""
    head = stream.read(1)
    size, shift, lengths = 0, 0, b""
    while True:
        byte = stream.read(1)
        if not head or not byte:
            return None
        lengths += byte
        size |= (byte[0] & 127) << shift
        shift += 7
        if byte[0] < 128:
            break
    body = stream.read(size)
    return (head[0] >> 4, body, head + lengths + body) if len(body) == size else None


class MqttFront:
    def __init__(self, port):
        self.broker, self.acknowledged = port, []  # (topic, body), in the order of the acknowledgements
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                try:
                    broker = socket.create_connection(("127.0.0.1", self.broker))
                except OSError:  # it is away
                    client.close()
                    continue
                sent = {}  # what waits for its acknowledgement, by its number
                threading.Thread(target=self.pass_on, args=(client, broker, sent, self.note_message), daemon=True).start()
                threading.Thread(target=self.pass_on, args=(broker, client, sent, self.note_answer), daemon=True).start()

    def pass_on(self, source, target, sent, note):
        with contextlib.suppress(OSError), source.makefile("rb") as stream:
            while packet := read_packet(stream):
                kind, body, whole = packet
                note(kind, body, sent)
                target.sendall(whole)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def note_message(self, kind, body, sent):
        if kind == PUBLISH:
            size, = struct.unpack_from(">H", body)
            number, = struct.unpack_from(">H", body, 2 + size)
            sent[number] = body[2:2 + size].decode(), body[4 + size:]

    def note_answer(self, kind, body, sent):
        if kind == PUBACK:
            self.acknowledged.append(sent.pop(struct.unpack(">H", body)[0]))
