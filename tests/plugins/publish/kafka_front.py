"""What librdkafka's mock cluster lacks: a listener before it that speaks TLS and asks for a login by SASL. Its port takes the place
of the broker's in what the cluster answers."""
import base64
import hashlib
import hmac
import secrets
import socket
import ssl
import struct
import threading

SASL_HANDSHAKE, API_VERSIONS, SASL_AUTHENTICATE = 17, 18, 36  # kinds of requests
LOGIN_FAILED = 58
ROUNDS = 4096


def read_exactly(connection, size):
    parts = b""
    while len(parts) < size:
        part = connection.recv(size - len(parts))
        if not part:
            raise ConnectionError
        parts += part
    return parts


def read_frame(connection):
    return read_exactly(connection, struct.unpack(">i", read_exactly(connection, 4))[0])


def send_frame(connection, body):
    connection.sendall(struct.pack(">i", len(body)) + body)


class Front:
    def __init__(self, broker, tls=None, login=None, mechanism="PLAIN"):
        """`broker` as HOST:PORT; `tls` a Certificate; `login` a user and a password."""
        host, _, port = broker.rpartition(":")
        self.broker, self.login, self.mechanism, self.context = (host, int(port)), login, mechanism, None
        if tls is not None:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(tls.certificate, tls.key)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.logins = 0  # that were tried
        threading.Thread(target=self.accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            if self.context is not None:
                client = self.context.wrap_socket(client, server_side=True)
            with client, socket.create_connection(self.broker) as broker:
                asked = set()  # the ids of requests whose answers are to say more than the cluster does
                threading.Thread(target=self.answer, args=(client, broker, asked), daemon=True).start()
                if self.login is not None:
                    self.let_in(client, broker, asked)
                while True:
                    send_frame(broker, read_frame(client))
        except (OSError, ConnectionError):
            client.close()

    def answer(self, client, broker, asked):
        old, new = (b"\x00\x09127.0.0.1" + struct.pack(">i", port) for port in (self.broker[1], self.port))
        try:
            while True:
                frame = read_frame(broker).replace(old, new)
                if frame[:4] in asked and frame[4:6] == b"\0\0":  # the kinds of requests that there are, and two more
                    count, = struct.unpack_from(">i", frame, 6)
                    more = struct.pack(">i6h", count + 2, SASL_HANDSHAKE, 0, 1, SASL_AUTHENTICATE, 0, 0)
                    frame = frame[:6] + more + frame[10:]
                send_frame(client, frame)
        except (OSError, ConnectionError):
            client.close()

    def let_in(self, client, broker, asked):
        """Until the client has logged in; ends by an error where it does not."""
        steps = None
        while True:
            frame = read_frame(client)
            kind, _, number, name = struct.unpack_from(">hh4sh", frame)
            body = frame[10 + max(0, name):]
            if kind == API_VERSIONS:
                asked.add(number)
                send_frame(broker, frame)
            elif kind == SASL_HANDSHAKE:
                word = self.mechanism.encode()
                send_frame(client, number + struct.pack(">hih", 0, 1, len(word)) + word)
                steps = self.check_plain() if self.mechanism == "PLAIN" else self.check_scram()
                next(steps)
                self.logins += 1
            else:
                assert kind == SASL_AUTHENTICATE
                answer = steps.send(body[4:])
                if answer is None:
                    send_frame(client, number + struct.pack(">hh", LOGIN_FAILED, 14) + b"no such person" + struct.pack(">i", 0))
                    raise ConnectionError
                send_frame(client, number + struct.pack(">hhi", 0, -1, len(answer)) + answer)
                if answer == b"" or answer.startswith(b"v="):
                    return

    def check_plain(self):
        said = yield
        yield b"" if said.split(b"\0")[1:] == [word.encode() for word in self.login] else None

    def check_scram(self):
        """RFC 5802, with SHA-256 or SHA-512. Is sent what the client says, gives what it is answered, None for no."""
        name = "sha" + self.mechanism.rpartition("-")[2]

        def keyed(key, text):
            return hmac.new(key, text.encode(), name).digest()
        first = yield
        bare = first.decode().split(",", 2)[2]
        user, nonce = (field[2:] for field in bare.split(","))
        salt, nonce = secrets.token_bytes(16), nonce + secrets.token_hex(8)
        challenge = f"r={nonce},s={base64.b64encode(salt).decode()},i={ROUNDS}"
        final = (yield challenge.encode()).decode()
        without_proof, _, proof = final.rpartition(",p=")
        salted = hashlib.pbkdf2_hmac(name, self.login[1].encode(), salt, ROUNDS)
        key, text = keyed(salted, "Client Key"), ",".join((bare, challenge, without_proof))
        signature = keyed(hashlib.new(name, key).digest(), text)
        wanted = bytes(a ^ b for a, b in zip(key, signature))
        is_right = user == self.login[0] and base64.b64decode(proof) == wanted
        yield b"v=" + base64.b64encode(keyed(keyed(salted, "Server Key"), text)) if is_right else None
