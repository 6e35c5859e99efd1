"""Lines to a broker that are bad: one that carries a few bytes a second, and one on which nobody takes up."""
import contextlib
import socket
import threading
import time


class Valve:
    """A listener before a port of this machine. Of requests it lets `rate` bytes a second through, of answers `answer_rate`; None:
    all. The rates may be changed at any time."""
    TICK = 0.05  # s

    def __init__(self, port):
        self.target, self.rate, self.answer_rate = port, None, None
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # what waits, waits on the other side
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                try:
                    broker = socket.create_connection(("127.0.0.1", self.target))
                except OSError:  # it is away
                    client.close()
                    continue
                threading.Thread(target=self.pump, args=(client, broker, lambda: self.rate), daemon=True).start()
                threading.Thread(target=self.pump, args=(broker, client, lambda: self.answer_rate), daemon=True).start()

    def pump(self, source, target, rate_now):
        with contextlib.suppress(OSError):
            while part := source.recv(65536 if (rate := rate_now()) is None else max(1, int(rate * self.TICK))):
                target.sendall(part)
                if (rate := rate_now()) is not None:
                    time.sleep(len(part) / rate)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def nobody_takes_up():
    """A port of this machine whose connections get no answer, as those through a wall that throws packets away: the place for
    one that waits to be taken up is taken."""
    with socket.socket() as listener, contextlib.ExitStack() as waiting:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        while True:
            one = waiting.enter_context(socket.socket())
            one.settimeout(0.3)
            try:
                one.connect(listener.getsockname())
            except TimeoutError:
                break
        yield listener.getsockname()[1]
