"""Other decoders' verdicts on pictures and videos. OpenCV, Pillow and their libraries run in a process of their own,
for damaged files may make them crash, hang or talk; what they print on standard error is taken as a complaint. (Pillow
closes the descriptor of a TIFF twice, which in a program with threads may be somebody else's by then.)"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

SECONDS = 30


def open_video(path):
    """How many frames the container promises, and how many come."""
    import cv2
    video = cv2.VideoCapture(path, cv2.CAP_FFMPEG)
    if not video.isOpened():
        return {"opens": False, "promised": 0, "frames": 0}
    promised, frames = video.get(cv2.CAP_PROP_FRAME_COUNT), 0
    while video.read()[0]:
        frames += 1
    return {"opens": True, "promised": promised, "frames": frames}


def open_picture(path):
    """Why Pillow refuses the picture, whether OpenCV reads it, and its size."""
    import cv2
    from PIL import Image
    refused = None
    try:
        with Image.open(path) as picture:
            picture.load()
    except Exception as error:  # Pillow has many ways to refuse
        refused = f"Pillow: {type(error).__name__}: {error}"
    pixels = None
    try:
        pixels = cv2.imread(path, cv2.IMREAD_COLOR)
    except cv2.error as error:
        refused = refused or f"OpenCV: {error}"
    if pixels is None:
        refused = refused or "OpenCV reads nothing"
    return {"refused": refused, "shape": None if pixels is None else list(pixels.shape)}


def compare(question):
    """How what came of a file compares with what others read (sweep_compare.py)."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
    from tests.campaign import sweep_compare
    return sweep_compare.compare(question)


def serve():
    """Answers a line of JSON for each line on standard input: [kind, path]."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    with tempfile.TemporaryFile() as complaints:
        os.dup2(complaints.fileno(), 2)
        for line in sys.stdin:
            kind, path = json.loads(line)
            complaints.seek(0)
            complaints.truncate()
            answer = {"video": open_video, "picture": open_picture, "compare": compare}[kind](path)
            complaints.seek(0)
            answer["complaints"] = complaints.read(4000).decode(errors="replace").strip()
            answers.write(json.dumps(answer) + "\n")
            answers.flush()


class Reader:
    """A process that reads files with other decoders; it is started again when a file ended it or it hangs.
    ask() may be called from several threads; one file is read at a time."""

    def __init__(self):
        self._process = None
        self._lock = threading.Lock()

    def ask(self, kind, path):
        """The verdict on a file, or None when the other decoder crashed or hung on it."""
        with self._lock:
            if self._process is None:
                self._process = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE,
                                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            process = self._process
            timer = threading.Timer(SECONDS, process.kill)
            timer.start()
            try:
                process.stdin.write(json.dumps([kind, str(path)]) + "\n")
                process.stdin.flush()
                answer = process.stdout.readline()
            except BrokenPipeError:
                answer = ""
            timer.cancel()
            if answer:
                return json.loads(answer)
            process.kill()
            process.wait()
            self._process = None
            return None

    def close(self):
        if self._process is not None:
            self._process.stdin.close()
            self._process.wait()
            self._process.stdout.close()
            self._process = None


def libjpeg_complaint(path):
    """What djpeg, of the package libjpeg-turbo-progs, says against a JPEG; None for nothing, or where it is missing."""
    djpeg = shutil.which("djpeg")
    if djpeg is None or pathlib.Path(path).suffix != ".jpg":
        return None
    done = subprocess.run([djpeg, "-outfile", os.devnull, path], capture_output=True, text=True, errors="replace",
                          timeout=SECONDS)
    return done.stderr.strip() or (f"exit code {done.returncode}" if done.returncode else None)


if __name__ == "__main__":
    serve()
