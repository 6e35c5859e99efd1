"""background beside OpenCV and NumPy: single pictures, and frames of a run whose scene is learned."""
import cv2
import numpy as np
import pytest

SIZE = (41, 67)


def scene(random, colours):
    shape = SIZE + ((colours,) if colours > 1 else ())
    return random.integers(20, 180, shape).astype(np.uint8)


def with_thing(picture, random, number):
    """The picture with noise and a thing that has moved on by three columns a frame."""
    noisy = np.clip(picture + random.normal(0, 2, picture.shape), 0, 255)
    noisy[10:25, 3 * number:3 * number + 12] = 230
    return noisy.astype(np.uint8)


def save(path, picture):
    cv2.imwrite(str(path), picture[..., ::-1] if picture.ndim == 3 else picture)


def probability(frame, background, threshold, lightness):
    """As the page of the stage has it, in float32 and in its order. `background` in 256ths of a level."""
    away = (frame.astype(np.int32) * 256 - background).astype(np.float32) / np.float32(255 * 256)
    if away.ndim == 2:
        squared = np.float32(lightness ** 2) * (away * away)
    else:
        red, green, blue = np.moveaxis(away, 2, 0)
        mean = (red + green + blue) / np.float32(3)
        red, green, blue = red - mean, green - mean, blue - mean
        squared = np.float32(lightness ** 2) * (mean * mean) + (red * red + green * green + blue * blue) / np.float32(3)
    return squared / (squared + np.float32(threshold ** 2))


@pytest.mark.parametrize("threshold", [0.03, 0.1, 0.5])
def test_a_grey_picture_differs_where_opencv_says(contorno, tmp_path, threshold):
    random = np.random.default_rng(1)
    empty = scene(random, 1)
    frame = with_thing(empty, random, 5)
    save(tmp_path / "empty.png", empty), save(tmp_path / "frame.png", frame)
    contorno("apply", "background", "frame.png", "out.npy", "--reference", "empty.png", "--rate", "0", "--threshold", threshold,
             "--channels", "grey", cwd=tmp_path)
    found = np.load(tmp_path / "out.npy").reshape(SIZE)
    away = cv2.absdiff(frame, empty).astype(float)
    clear = np.abs(away - 255 * threshold) > 1e-3
    assert clear.mean() > 0.9
    assert np.array_equal((found > 0.5)[clear], (away > 255 * threshold)[clear])


@pytest.mark.parametrize("lightness", [1, 0.3, 0])
def test_a_colour_picture_gives_the_bits_of_numpy(contorno, tmp_path, lightness):
    random = np.random.default_rng(2)
    empty = scene(random, 3)
    frame = with_thing(empty, random, 5)
    save(tmp_path / "empty.png", empty), save(tmp_path / "frame.png", frame)
    contorno("apply", "background", "frame.png", "out.npy", "--reference", "empty.png", "--rate", "0", "--threshold", "0.1",
             "--lightness", lightness, "--channels", "rgb", cwd=tmp_path)
    wanted = probability(frame, empty.astype(np.int32) * 256, 0.1, lightness)
    assert np.array_equal(np.load(tmp_path / "out.npy").reshape(SIZE), wanted)


def learned(frames, rate, reference=None):
    """The scene before every frame."""
    scenes, least = [], round(rate * 256)
    now = None if reference is None else reference.astype(np.int64) * 256
    for number, frame in enumerate(frames):
        wanted = frame.astype(np.int64) * 256
        now = wanted if now is None else now
        scenes.append(now)
        step = max(least, 32 * 256 // number) if number > 0 and reference is None else least
        now = now + np.clip(wanted - now, -step, step)
    return scenes


GRAPH = """source: {{type: images, location: shots}}
classes: [{{name: thing}}]
stages: [{{type: background, output: frame, paint: "#0a141e", threshold: 0.1, rate: {rate}{reference}}}]
sinks: [{{type: images, path: "{{frame}}.png", from: background}}]
"""


@pytest.mark.parametrize("rate, has_reference", [(0.5, False), (4, False), (4, True)])
def test_the_scene_of_a_run_is_learned_as_numpy_does_it_with_any_number_of_slots_and_threads(contorno, tmp_path, rate,
                                                                                             has_reference):
    random = np.random.default_rng(3)
    empty = scene(random, 3)
    frames = [with_thing(empty, random, number) for number in range(16)]
    (tmp_path / "shots").mkdir()
    for number, frame in enumerate(frames):
        save(tmp_path / "shots" / f"{number:02}.png", frame)
    save(tmp_path / "empty.png", empty)
    (tmp_path / "graph.yaml").write_text(GRAPH.format(rate=rate, reference=", reference: empty.png" if has_reference else ""))
    for slots, threads in ((1, 1), (4, 3)):
        contorno("run", "graph.yaml", "--output", "out", "--quiet", "--set", f"pipeline.slots={slots}", "--set",
                 f"pipeline.threads={threads}", cwd=tmp_path)
        for number, (frame, before) in enumerate(zip(frames, learned(frames, rate, empty if has_reference else None))):
            found = cv2.imread(str(tmp_path / "out" / f"{number}.png"))[..., ::-1]
            wanted = np.where((probability(frame, before, 0.1, 1) >= 0.5)[..., None], frame, (10, 20, 30))
            assert np.array_equal(found, wanted), (slots, number)


def test_a_scene_that_was_learned_is_the_median_of_the_frames():
    """What NumPy's median finds at once, the running one finds in time; the stage is compared with `learned` above."""
    random = np.random.default_rng(4)
    empty = scene(random, 3)
    frames = [with_thing(empty, random, number % 19) for number in range(800)]
    away = learned(frames, 1)[-1] / 256 - np.median(frames, axis=0)
    assert np.abs(away).mean() < 1.5 and np.abs(away).max() < 12
