"""Plays the line of a pipeline in a process of its own, as gst-launch-1.0 does, whose words and sentences these are. That one hangs
in some of a hundred runs on a busy machine when an element fails while the pipeline prerolls, whatever the element: it leaves its
main loop for the first error and enters it again."""
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

OPTIONS = ("-q", "-m", "-e", "-v")


def say(kind, source, error, details):
    print(f"{kind}: from element {source.get_path_string()}: {error.message}", file=sys.stderr)
    if details:
        print(f"Additional debug info:\n{details}", file=sys.stderr)


def play(pipeline, every_message):
    """Until the end of the stream or the first error; the exit code."""
    bus = pipeline.get_bus()
    if pipeline.set_state(Gst.State.PLAYING) == Gst.StateChangeReturn.FAILURE:
        print("ERROR: Pipeline doesn't want to play.", file=sys.stderr)
        failed = bus.timed_pop_filtered(0, Gst.MessageType.ERROR)
        if failed:
            say("ERROR", failed.src, *failed.parse_error())
        return 1
    while True:
        message = bus.timed_pop(Gst.CLOCK_TIME_NONE)
        if every_message and message.get_structure():
            print(f"Got message from element \"{message.src.get_name()}\": {message.get_structure().to_string()}")
        if message.type == Gst.MessageType.WARNING:
            say("WARNING", message.src, *message.parse_warning())
        elif message.type == Gst.MessageType.LATENCY:
            pipeline.recalculate_latency()
        elif message.type == Gst.MessageType.ERROR:
            say("ERROR", message.src, *message.parse_error())
            return 1
        elif message.type == Gst.MessageType.EOS:
            return 0


def main():
    Gst.init(None)
    words = sys.argv[1:]
    options = [word for word in words if word in OPTIONS]
    try:
        pipeline = Gst.parse_launchv([word for word in words if word not in OPTIONS])
    except gi.repository.GLib.Error as error:
        print(f"WARNING: erroneous pipeline: {error.message}", file=sys.stderr)
        return 1
    if not isinstance(pipeline, Gst.Pipeline):
        whole = Gst.Pipeline.new(None)
        whole.add(pipeline)
        pipeline = whole
    code = play(pipeline, "-m" in options)
    pipeline.set_state(Gst.State.NULL)
    return code


sys.exit(main())
