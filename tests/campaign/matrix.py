"""Films of every codec that FFmpeg here encodes: each format of samples, even and odd sides, both ranges, the matrices
that can be tagged, and the eight ways to hold a camera. What the program records of them is what FFmpeg decodes, frame
by frame; or it is refused, and stands in the list of what is refused, with the reason."""
import functools
import re
import struct
import subprocess

import cv2
import numpy as np

from tests.campaign.trial import Case, Skip

FRAMES = 3
EVEN, ODD, HD = (96, 64), (95, 63), (1280, 720)
MOST = 7  # of 255: quantisers differ by a step or two, and GStreamer's converter has eight bits
EXACT = "accurate_rnd+full_chroma_int+full_chroma_inp+bicubic"
COLOURS = np.array([(200, 30, 30), (30, 200, 30), (30, 30, 200), (128, 128, 128), (246, 246, 246), (8, 8, 8),
                    (200, 200, 30), (30, 200, 200)], np.uint8)

# What FFmpeg encodes and no film is made of here, with the reason.
STILL = ("alias_pix apng bmp dpx exr fits jpegls libjxl libopenjpeg libwebp libwebp_anim ljpeg pam pbm pcx pfm pgm pgmyuv "
         "phm ppm qoi sgi sunrast targa tiff vbn xbm xface xwd")
NO_CONTAINER = "a64multi a64multi5 amv avrp bitpacked h261 roqvideo wrapped_avframe speedhq y41p cljr yuv4 xface"
LEFT_OUT = {**dict.fromkeys(STILL.split(), "of still pictures"), **dict.fromkeys(NO_CONTAINER.split(), "in no usual film")}
CONTAINERS = {"libx264": "mp4", "libx264rgb": "mkv", "libx265": "mp4", "mpeg4": "mp4", "libxvid": "avi", "libtheora": "ogv",
              "libvpx": "webm", "libvpx-vp9": "webm", "libaom-av1": "mkv", "libsvtav1": "mkv", "librav1e": "mkv",
              "prores": "mov", "prores_aw": "mov", "prores_ks": "mov", "qtrle": "mov", "dnxhd": "mov", "cfhd": "mov",
              "rpza": "mov", "svq1": "mov", "v210": "mov", "v308": "mov", "v408": "mov", "v410": "mov", "r210": "mov",
              "r10k": "mov", "avui": "mov", "jpeg2000": "mov", "png": "mov", "hap": "mov", "smc": "mov", "flv": "flv",
              "flashsv": "flv", "flashsv2": "flv", "gif": "gif", "mpeg1video": "mpg", "mpeg2video": "ts", "wmv1": "wmv",
              "wmv2": "wmv", "rv10": "rm", "rv20": "rm", "dvvideo": "avi", "vc2": "mkv", "ffv1": "mkv"}
QUALITY = {"libx264": ["-qp", "2", "-preset", "ultrafast"], "libx264rgb": ["-qp", "2", "-preset", "ultrafast"],
           "libx265": ["-x265-params", "log-level=none:qp=4", "-preset", "ultrafast"],
           "libvpx": ["-b:v", "20M", "-deadline", "realtime"],
           "libvpx-vp9": ["-b:v", "20M", "-deadline", "realtime", "-cpu-used", "8"], "libtheora": ["-q:v", "10"],
           "libaom-av1": ["-b:v", "20M", "-cpu-used", "8", "-usage", "realtime"],
           "libsvtav1": ["-crf", "10", "-preset", "12", "-loglevel", "error"], "dnxhd": ["-profile:v", "dnxhr_444"],
           "librav1e": ["-speed", "10", "-qp", "40"]}
# Of raw samples FFmpeg names no formats: those that cameras and programs write.
RAW = ("gray gray10le gray12le gray16le rgb24 bgr24 rgba bgra argb bgr0 rgb565le rgb555le rgb48le rgba64le yuv420p yuv422p "
       "yuv444p yuv410p yuv411p nv12 nv21 yuyv422 uyvy422 yuv420p10le yuv422p10le yuv444p16le gbrp gbrp10le monow monob pal8")
# Codecs that can say range and matrix, with the formats in which that is tried.
TAGGED = {"libx264": ["yuv420p", "yuv444p", "yuv420p10le", "gray"], "libx265": ["yuv420p", "yuv444p", "yuv420p10le", "gray"],
          "libvpx": ["yuv420p"], "libvpx-vp9": ["yuv420p", "yuv444p"], "libsvtav1": ["yuv420p"], "mjpeg": ["yuvj420p"],
          "mpeg4": ["yuv420p"], "mpeg2video": ["yuv420p"], "ffv1": ["yuv420p", "yuv444p", "yuv422p10le"],
          "prores_ks": ["yuv422p10le"], "libtheora": ["yuv420p"], "rawvideo": ["yuv420p", "yuv422p"]}
RANGES = {"tv": "limited", "pc": "full"}
MATRICES = {"none": "unknown", "bt601": "smpte170m", "bt709": "bt709", "bt2020": "bt2020nc", "smpte240m": "smpte240m"}
UNTAG = {"libx264": "h264_metadata", "libx265": "hevc_metadata"}
FIXED = ("libvpx", "libtheora", "mjpeg")  # whose definition says the matrix
# Matrices of a QuickTime track, the first two columns; the last of each row is in 1 / 2^30.
POSES = {"upright": (1, 0, 0, 1), "mirrored": (-1, 0, 0, 1), "half": (-1, 0, 0, -1), "upside-down": (1, 0, 0, -1),
         "transposed": (0, 1, 1, 0), "right": (0, 1, -1, 0), "transversed": (0, -1, -1, 0), "left": (0, -1, 1, 0)}
# What is refused with a sentence, as "codec format" or "codec", with the reason. That GStreamer has no decoder or no
# name in its demuxer for it is said by the program: "missing: Dirac decoder".
NO_DECODER = "missing: "
REFUSED = {"flashsv2": "GStreamer's demuxer of FLV has no name for it",
           **dict.fromkeys(("libvpx-vp9 yuv440p", "libvpx-vp9 yuv440p10le", "libvpx-vp9 yuv440p12le"),
                           "libvpx does not decode 4:4:0")}
# What is read in another way than FFmpeg reads it, with the reason.
OTHERWISE = {}


@functools.lru_cache
def ffmpeg_text(*arguments):
    return subprocess.run(["ffmpeg", "-hide_banner", *arguments], capture_output=True, text=True, check=False,
                          timeout=60).stdout


def encoders():
    """Of films and in software."""
    for line in ffmpeg_text("-encoders").splitlines():
        words = line.split()
        if len(words) > 1 and re.fullmatch(r"V[.A-Z]{5}", words[0]) and words[1] != "=" and words[1] not in LEFT_OUT:
            if not re.search(r"_(nvenc|omx|qsv|v4l2m2m|vaapi)$", words[1]):
                yield words[1]


def formats_of(encoder):
    found = re.search(r"Supported pixel formats: (.*)", ffmpeg_text("-h", f"encoder={encoder}"))
    return RAW.split() if encoder == "rawvideo" else found.group(1).split() if found else ["yuv420p"]


def picture(size, index):
    """Eight fields of pure colours, another order in each frame."""
    width, height = size
    rows, columns = np.mgrid[0:height, 0:width]
    return COLOURS[(rows * 2 // height * 4 + columns * 4 // width + index) % 8]


def fields(image):
    """The colours in the middle of the fields."""
    height, width = image.shape[:2]
    short, long = sorted((height, width))
    along = [(2 * k + 1) * long // 8 for k in range(4)]
    across = [short // 4, short * 3 // 4]
    rows, columns = (across, along) if height == short else (along, across)
    return image[np.ix_(rows, columns)].astype(int)


def ffmpeg(*arguments, **options):
    return subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", *map(str, arguments)], capture_output=True, check=False,
                          timeout=60, **options)


def encode(path, encoder, pixels, size, tag_range="tv", matrix="none"):
    """Writes the film, or says by Skip why FFmpeg cannot."""
    meant = "bt601" if encoder in FIXED else matrix
    if meant == "none":
        meant = "bt601" if size[0] < HD[0] else "bt709"
    options = [*QUALITY.get(encoder, ["-q:v", "2"]), "-strict", "-2", "-color_range", tag_range]
    if matrix != "none":
        options += ["-colorspace", MATRICES[matrix]]
    elif encoder in UNTAG:
        options += ["-bsf:v", f"{UNTAG[encoder]}=matrix_coefficients=2:colour_primaries=2:transfer_characteristics=2"]
    tagged = f"setparams=colorspace={MATRICES[matrix]}:range={RANGES[tag_range]}"
    try:
        done = ffmpeg("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", 25, "-i", "-", "-vf",
                      f"scale=out_color_matrix={meant}:out_range={tag_range}:flags={EXACT},format={pixels},{tagged}", "-c:v",
                      encoder, *options, path, input=b"".join(picture(size, index).tobytes() for index in range(FRAMES)))
    except subprocess.TimeoutExpired as late:
        raise Skip(f"FFmpeg takes longer than a minute ({encoder})") from late
    if done.returncode != 0 or not path.exists():
        raise Skip(f"FFmpeg does not encode it ({encoder} {pixels} {size[0]}x{size[1]})")
    return meant


def decode(path, matrix):
    """The frames as FFmpeg sees them, with the matrix told where the film names none."""
    scale = f"scale=in_color_matrix={matrix}:flags={EXACT}" if matrix else f"scale=flags={EXACT}"
    shown = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries",
                            "stream=width,height:stream_side_data=rotation", "-of", "csv=p=0", path], capture_output=True,
                           text=True, check=False, timeout=60).stdout.replace("\n", ",").split(",")
    if len(shown) < 2 or not shown[0].isdigit():
        raise Skip("FFmpeg does not read it")
    width, height = int(shown[0]), int(shown[1])
    if len(shown) > 2 and shown[2].lstrip("-").isdigit() and int(shown[2]) % 180 != 0:
        width, height = height, width
    data = ffmpeg("-i", path, "-map", "0:v:0", "-fps_mode", "passthrough", "-vf", scale, "-f", "rawvideo", "-pix_fmt", "rgb24",
                  "-").stdout
    if not data or len(data) % (width * height * 3):
        raise Skip("FFmpeg does not read it")
    return np.frombuffer(data, np.uint8).reshape(-1, height, width, 3)


def names_matrix(path):
    """Whether FFmpeg finds one in the film: its encoder of MPEG-4, for one, writes none, whatever it is told."""
    return subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "stream=color_space", "-of",
                           "csv=p=0", path], capture_output=True, text=True, check=False,
                          timeout=60).stdout.strip().split("\n")[0].strip(",") not in ("", "unknown")


def says_limited(path):
    """Whether FFmpeg decodes it to grey of 8 bits, whose range is told as limited."""
    return subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "stream=pix_fmt,color_range",
                           "-of", "csv=p=0", path], capture_output=True, text=True, check=False,
                          timeout=60).stdout.startswith("gray,tv")


def turn(path, pose):
    """Writes the pose into the header of the track."""
    data = bytearray(path.read_bytes())
    a, b, c, d = POSES[pose]
    at = data.index(b"tkhd") + 4 + 40
    data[at:at + 36] = struct.pack(">9i", *(one << 16 for one in (a, b)), 0, *(one << 16 for one in (c, d)), 0, 0, 0, 1 << 30)
    path.write_bytes(data)


def posed(frames, pose):
    """What a viewer sees of a stored picture."""
    a, b, c, d = POSES[pose]
    for frame in frames:
        if a == 0:
            frame = frame.swapaxes(0, 1)
            a_row, a_column = c, b  # the columns of the result come from the rows of the picture
            frame = frame[::b] if b < 0 else frame
            yield frame[:, ::-1] if c < 0 else frame
        else:
            frame = frame[:, ::-1] if a < 0 else frame
            yield frame[::-1] if d < 0 else frame


def judge(trial, path, expected, names):
    """Compares what the program records with the frames expected, or with the list of what is refused."""
    done = trial.run("record", path.name, "rec", "--quiet")
    reason = next((REFUSED[name] for name in names if name in REFUSED), None)
    if done.code != 0:
        if reason is None and NO_DECODER not in done.said:
            trial.fault(f"refused, and not in the list: {done.said.strip()[:300]}")
        return
    if reason is not None:
        trial.fault(f"in the list of what is refused ({reason}), and read")
    came = sorted((trial.folder / "rec" / "frames").glob("*.png"))
    if len(came) != len(expected):
        trial.fault(f"{len(came)} frames, FFmpeg reads {len(expected)}")
    for index, (file, wanted) in enumerate(zip(came, expected)):
        got = cv2.imread(str(file))[..., ::-1]
        if got.shape != wanted.shape:
            trial.fault(f"frame {index} has {got.shape[1]} x {got.shape[0]}, FFmpeg's {wanted.shape[1]} x {wanted.shape[0]}")
            return
        off = np.abs(fields(got) - fields(wanted)).max()
        if off > MOST and not any(name in OTHERWISE for name in names):
            trial.fault(f"frame {index} is {off} of 255 off")
            return


def film(encoder, pixels, size, tag_range="tv", matrix="none", container=None):
    container = container or CONTAINERS.get(encoder, "avi")
    name = f"{encoder}-{pixels}-{size[0]}x{size[1]}-{tag_range}-{matrix}-{container}"

    def play(trial):
        path = trial.folder / f"film.{container}"
        meant = encode(path, encoder, pixels, size, tag_range, matrix)
        if encoder in FIXED or matrix == "none":
            read_by = meant
        else:  # what names none has that of its size, which players take and FFmpeg's own conversion does not
            read_by = None if names_matrix(path) else "bt601" if size[0] < HD[0] else "bt709"
        expected = decode(path, read_by)
        if pixels == "gray" and says_limited(path):
            expected = np.clip((expected.astype(int) - 16) * 255 / 219, 0, 255).round()  # FFmpeg forgets it for 8 bits alone
        judge(trial, path, expected, (f"{encoder} {pixels}", encoder))
    return Case(name, play)


def turned(encoder, container, pose, size):
    def play(trial):
        path = trial.folder / f"film.{container}"
        encode(path, encoder, "yuv420p", size)
        stored = decode(path, "bt601")
        turn(path, pose)
        judge(trial, path, list(posed(stored, pose)), (f"pose {pose}",))
    return Case(f"pose-{encoder}-{container}-{pose}-{size[0]}x{size[1]}", play)


def cases(options):
    if options.quick:
        yield from quick_cases()
        return
    for encoder in encoders():
        for pixels in formats_of(encoder):
            for size in (EVEN, ODD):
                yield film(encoder, pixels, size)
            if encoder in ("ffv1", "rawvideo", "mjpeg", "libx264", "png", "huffyuv"):
                for container in {"avi", "mkv", "mov"} - {CONTAINERS.get(encoder, "avi")}:
                    yield film(encoder, pixels, ODD, container=container)
    for encoder, formats in TAGGED.items():
        for pixels in formats:
            for size in (EVEN, HD):
                for tag_range in RANGES:
                    for matrix in MATRICES:
                        if (size, tag_range, matrix) != (EVEN, "tv", "none"):
                            yield film(encoder, pixels, size, tag_range, matrix)
    for encoder, container in (("libx264", "mp4"), ("libx264", "mov"), ("libx265", "mp4"), ("mpeg4", "mp4")):
        for pose in POSES:
            for size in (EVEN, (96, 48)):
                yield turned(encoder, container, pose, size)


def quick_cases():
    """One of each kind that was wrong once."""
    for encoder, pixels, size, tag_range, matrix in (
            ("ffv1", "gray10le", ODD, "tv", "none"), ("ffv1", "gray16le", EVEN, "tv", "none"),
            ("ffv1", "rgb48le", EVEN, "tv", "none"), ("ffv1", "yuv444p16le", EVEN, "tv", "none"),
            ("libx265", "gray12le", EVEN, "tv", "none"), ("libx264", "yuv420p", EVEN, "pc", "none"),
            ("libx264", "yuv420p", HD, "tv", "bt601"), ("libvpx", "yuv420p", HD, "tv", "bt709"),
            ("rawvideo", "gray", ODD, "tv", "none"), ("rawvideo", "rgb24", ODD, "tv", "none"),
            ("mjpeg", "yuvj422p", ODD, "pc", "none")):
        yield film(encoder, pixels, size, tag_range, matrix)
    for pose in ("upright", "right", "half"):
        yield turned("libx264", "mp4", pose, EVEN)
