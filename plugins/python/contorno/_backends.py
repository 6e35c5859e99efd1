"""What this build and this machine can do."""
from . import _core


def backends():
    """The backends of this build: ``{'cpu': {...}, 'cuda': {...}}``.

    Both have ``available``. 'cpu' also has ``simd`` (instruction set that is used) and ``threads``; 'cuda' has ``built_in``,
    ``reason`` and ``fix`` (sentences, empty when available), ``runtime`` and ``driver`` (versions) and ``devices``, a list
    of dicts. The first call may take some 100 ms, because it starts the driver.
    """
    return _core.backends()
