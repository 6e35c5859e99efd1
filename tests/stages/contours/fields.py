"""Fields that are hard for contours, of every kind, and how contours are compared with other programs' ones."""
import numpy as np


def same_bits(a, b):
    if a.shape != b.shape:
        return False
    nan = np.isnan(b)
    return np.array_equal(np.isnan(a), nan) and a[~nan].tobytes() == b[~nan].tobytes()


def with_holes(random, image):
    """Half of the fields get NaN (floats only) or a mask."""
    kind = random.integers(4)
    holes = random.random(image.shape) < random.choice([0.02, 0.1, 0.3])
    if kind == 0 and image.dtype.kind == "f":
        image = image.copy()
        image[holes] = np.nan
    return image, ~holes if kind == 1 else None


def smooth(random, shape, sigma=3.0):
    from scipy import ndimage
    field = ndimage.gaussian_filter(random.standard_normal(shape), sigma)
    return (field - field.min()) / (field.max() - field.min())


def rounds_onto_samples(random, shape):
    near = random.choice([1e-17, -1e-17, 1e-16, -1e-16, 1e-300, 0, 5e-324, 1e-12, 1e-9], shape)
    return np.where(random.random(shape) < 0.5, near, random.choice([1.0, -1.0, 1e300, -1e300, 1e5], shape))


def integers(most, dtype=np.float64):
    return lambda random, shape: random.integers(0, most + 1, shape).astype(dtype)


def infinite(random, shape):
    field = random.standard_normal(shape)
    field[random.random(shape) < 0.1] = np.inf
    field[random.random(shape) < 0.1] = -np.inf
    return field


# name: (how many, sides, field, level)
KINDS = {
    "noise f64": (1500, (2, 13), lambda r, s: r.standard_normal(s), lambda r, f: r.standard_normal() / 2),
    "noise f32": (1500, (2, 13), lambda r, s: r.standard_normal(s).astype(np.float32), lambda r, f: r.standard_normal() / 2),
    "noise f16": (1000, (2, 13), lambda r, s: r.standard_normal(s).astype(np.float16), lambda r, f: r.choice([0, 0.25, 0.1])),
    "noise over several words": (200, (60, 140), lambda r, s: r.standard_normal(s).astype(r.choice([np.float32, np.float64])), lambda r, f: 0.1),
    "level of a sample": (1000, (2, 13), lambda r, s: r.standard_normal(s).astype(np.float32), lambda r, f: float(f.flat[r.integers(f.size)])),
    "level beside a sample": (500, (2, 13), lambda r, s: r.standard_normal(s).astype(np.float32), lambda r, f: np.nextafter(float(f.flat[r.integers(f.size)]), r.choice([-9, 9]))),
    "smooth": (60, (40, 150), smooth, lambda r, f: r.random()),
    "binary": (1000, (2, 13), integers(1), lambda r, f: 0.5),
    "smooth uint8": (60, (40, 150), lambda r, s: (255 * smooth(r, s)).astype(np.uint8), lambda r, f: r.integers(60, 200)),
    "uint8": (500, (2, 13), integers(255, np.uint8), lambda r, f: r.choice([100, 127.5, -1, 255, 254.9999999999])),
    "uint8 of few values": (500, (2, 13), integers(4, np.uint8), lambda r, f: r.choice([0, 1, 2, 4])),
    "uint16": (500, (2, 70), integers(9, np.uint16), lambda r, f: r.choice([0, 3, 4.5])),
    "integers 0..1": (700, (2, 13), integers(1), lambda r, f: r.integers(2)),
    "integers 0..2": (700, (2, 13), integers(2), lambda r, f: r.integers(3)),
    "integers 0..4": (900, (2, 13), integers(4, np.float32), lambda r, f: r.integers(5)),
    "integers 0..15": (900, (2, 13), integers(15), lambda r, f: r.integers(16)),
    "integers 0..255": (500, (2, 13), integers(255, np.float32), lambda r, f: r.integers(256)),
    "large, 0..1": (100, (20, 80), integers(1), lambda r, f: r.integers(2)),
    "large, 0..4": (100, (20, 80), integers(4, np.float16), lambda r, f: r.integers(5)),
    "rounds onto samples": (1000, (2, 13), rounds_onto_samples, lambda r, f: r.choice([0, 1e-17, 1e-300])),
    "infinite": (1000, (2, 13), infinite, lambda r, f: r.choice([0, 0.5, 1e308, -1e308])),
    "level absent": (600, (2, 13), lambda r, s: (10 * r.standard_normal(s)).astype(r.choice([np.float64, np.float32, np.float16])), lambda r, f: None),
}
