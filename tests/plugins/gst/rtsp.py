"""An RTSP server of GStreamer's own on the loopback, in a process of its own that can be killed."""
import socket
import subprocess
import time

import pytest

SERVER = """
import sys, gi
gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer
Gst.init(None)
server = GstRtspServer.RTSPServer()
server.set_address("127.0.0.1")
server.set_service(sys.argv[1])
factory = GstRtspServer.RTSPMediaFactory()
factory.set_launch(sys.argv[2])
factory.set_shared(False)
if len(sys.argv) > 3:  # a user and a password, without which nobody is served
    auth, token, allowed = GstRtspServer.RTSPAuth(), GstRtspServer.RTSPToken(), GstRtspServer.RTSPPermissions()
    token.set_string("media.factory.role", "viewer")
    for right in ("media.factory.access", "media.factory.construct"):
        allowed.add_permission_for_role("viewer", right, True)
    auth.add_basic(GstRtspServer.RTSPAuth.make_basic(*sys.argv[3:5]), token)
    factory.set_permissions(allowed)
    server.set_auth(auth)
server.get_mount_points().add_factory("/stream", factory)
assert server.attach(None) > 0
print("ready", flush=True)
GLib.MainLoop().run()
"""
MEDIA = ("( videotestsrc is-live=true pattern=ball foreground-color=0xffe02020 background-color=0xff305030 {} ! "
         "video/x-raw,format=I420,width=64,height=48,framerate=25/1 ! jpegenc ! rtpjpegpay name=pay0 )")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class RtspServer:
    """`frames` 0: without end. `login`: a user and a password that are asked for. start() again after kill() serves at the same
    address."""

    def __init__(self, frames=0, login=()):
        # GStreamer's server comes with a package of its own.
        gi = pytest.importorskip("gi")
        try:
            gi.require_version("GstRtspServer", "1.0")
        except ValueError:
            pytest.skip("needs Debian's package gir1.2-gst-rtsp-server-1.0")
        self.port = free_port()
        self.address = f"rtsp://127.0.0.1:{self.port}/stream"
        self.media = MEDIA.format(f"num-buffers={frames}" if frames else "")
        self.login, self.process = login, None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()

    def start(self):
        self.process = subprocess.Popen(["/usr/bin/python3", "-c", SERVER, str(self.port), self.media, *self.login],
                                        stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def wait_until(condition, seconds=300):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.05)
