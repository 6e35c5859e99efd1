"""Puts contorno's find_contours in the place of scikit-image's.

>>> import contorno.skimage
>>> contorno.skimage.install()
>>> skimage.measure.find_contours(image, 0.5)   # is now contorno.find_contours
"""
import sys
import warnings

from ._find_contours import find_contours

_replaced = []  # (module, original), in the order of replacement


class _Installed:
    """What install() returns: a context manager that uninstalls."""

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        uninstall()

    def __repr__(self):
        return "<skimage.measure.find_contours is contorno's; leaving the context puts scikit-image's back>"


def install():
    """Replace `skimage.measure.find_contours`, also in modules of scikit-image that have already imported it.

    Code that took the function with ``from skimage.measure import find_contours`` before keeps the old one; a warning names
    the modules that did. May be called again. Usable as a context manager: ``with contorno.skimage.install(): ...``
    """
    import skimage.measure
    original = skimage.measure.find_contours
    if original is find_contours:
        return _Installed()
    kept = []
    for name, module in list(sys.modules.items()):
        values = getattr(module, "__dict__", {})
        if name.split(".")[0] not in ("skimage", "_skimage2", "skimage2"):
            kept += [f"{name}.{word}" for word, value in list(values.items()) if value is original]
        elif values.get("find_contours") is original:
            module.find_contours = find_contours
            _replaced.append((module, original))
    if kept:
        warnings.warn(f"these have taken find_contours from scikit-image before and keep the old one: {', '.join(sorted(kept))}; "
                      "call contorno.skimage.install() before they are imported", stacklevel=2)
    return _Installed()


def uninstall():
    """Put scikit-image's own function back everywhere."""
    while _replaced:
        module, original = _replaced.pop()
        module.find_contours = original


def is_installed():
    """Whether `skimage.measure.find_contours` is contorno's at the moment."""
    return bool(_replaced)
