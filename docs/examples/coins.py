#!/usr/bin/env python3
"""Measures coins on a photograph with scikit-image, then once more with contorno's find_contours in the place of
scikit-image's: the same numbers to the last bit, and the time that it saves.

  PYTHONPATH=build/release/python docs/examples/coins.py [PICTURE.svg]
"""
import base64
import io
import sys
import time

import numpy as np
import skimage.measure
from skimage import data, filters

import contorno.skimage


def area_and_perimeter(contour):
    """Of a closed polygon (row, column), by the shoelace formula."""
    rows, columns = contour[:, 0], contour[:, 1]
    area = 0.5 * abs(np.dot(rows[:-1], columns[1:]) - np.dot(rows[1:], columns[:-1]))
    return area, np.hypot(np.diff(rows), np.diff(columns)).sum()


def measure_coins(image, levels):
    """The level at which the most round things are found, and their outlines: plain scikit-image."""
    best_level, best = None, []
    for level in levels:
        coins = []
        for contour in skimage.measure.find_contours(image, level):
            if len(contour) < 40 or not np.array_equal(contour[0], contour[-1]):
                continue
            area, perimeter = area_and_perimeter(contour)
            if area > 700 and 4 * np.pi * area / perimeter**2 > 0.8:
                coins.append((area, contour))
        if len(coins) > len(best):
            best_level, best = level, coins
    return best_level, sorted(best, key=lambda coin: -coin[0])


def best_time(function, *arguments, turns=5):
    times = []
    for _ in range(turns):
        start = time.perf_counter()
        result = function(*arguments)
        times.append(time.perf_counter() - start)
    return min(times), result


def draw(image, coins, path):
    from skimage import io as images
    picture = io.BytesIO()
    images.imsave(picture, image, plugin="imageio", format="jpg", quality=60, check_contrast=False)
    height, width = image.shape
    lines = []
    for number, (area, contour) in enumerate(coins, 1):
        points = " ".join(f"{column + 0.5:.1f},{row + 0.5:.1f}" for row, column in contour)
        row, column = contour.mean(0)
        lines.append(f'<polyline points="{points}"/><text x="{column:.1f}" y="{row + 4:.1f}">{number}</text>')
    with open(path, "w") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{2 * width}">'
                   "<style>polyline{fill:#ffd16633;stroke:#ffd166;stroke-width:1.2}"
                   "text{fill:#fff;font:11px sans-serif;text-anchor:middle}</style>"
                   f'<image width="{width}" height="{height}" '
                   f'href="data:image/jpeg;base64,{base64.b64encode(picture.getvalue()).decode()}"/>{"".join(lines)}</svg>\n')


def main():
    photograph = data.coins()
    image = filters.gaussian(photograph.astype(float), 1.5, preserve_range=True)
    image -= filters.gaussian(image, 60, preserve_range=True)  # the light falls off to the right
    levels = np.linspace(-20, 40, 61)
    theirs, (level, coins) = best_time(measure_coins, image, levels, turns=2)
    with contorno.skimage.install():
        ours, (our_level, our_coins) = best_time(measure_coins, image, levels)
    assert level == our_level and all(np.array_equal(a[1], b[1]) for a, b in zip(coins, our_coins))
    print(f"{len(coins)} coins at level {level:.0f}")
    for number, (area, _) in enumerate(coins, 1):
        print(f"  {number:2}  {2 * np.sqrt(area / np.pi):5.1f} px across")
    alone = {}
    for name, function in (("scikit-image", skimage.measure.find_contours), ("contorno", contorno.find_contours)):
        alone[name], _ = best_time(lambda: [function(image, one) for one in levels], turns=2 if name == "scikit-image" else 5)
    print(f"find_contours alone: scikit-image {1e3 * alone['scikit-image']:.0f} ms, contorno {1e3 * alone['contorno']:.0f} ms, "
          f"{alone['scikit-image'] / alone['contorno']:.0f} times faster, equal bits")
    print(f"the whole analysis:  scikit-image {1e3 * theirs:.0f} ms, contorno {1e3 * ours:.0f} ms, {theirs / ours:.1f} times faster")
    if len(sys.argv) > 1:
        draw(photograph, coins, sys.argv[1])
        print(f"picture: {sys.argv[1]}")


if __name__ == "__main__":
    main()
