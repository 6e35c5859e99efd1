"""Random fields of heights."""
import functools

import numpy as np

from . import _core
from ._options import decide, suggesting
from ._stages import _default

_of = functools.partial(_default, "diamond_square")


@suggesting
def diamond_square(n, seed=_of("seed"), *, size=None, channels=_of("fields"), dtype=np.uint8, domain=_of("domain"),
                   range=_of("range"), roughness=_of("roughness"), amplitude=_of("amplitude"), corners=(), origin=(0, 0),
                   backend="auto", threads=None, output="host", stream=None):
    """A random field of heights that is rough at every scale (Diamond-Square).

    Parameters
    ----------
    n : int
        Corners are 2^n px apart; 1 to 16.
    seed : int
        Which field it is: a cell is a function of seed, row, column and level alone.
    size : (int, int), optional
        Of the array, (width, height). Default: the whole field, 2^n + 1 px a side ('cyclic': 2^n).
    channels : int
        That many independent fields, 1 to 16, in the first axis.
    dtype : uint8, uint16 or float32
        Heights from 0 to the type's largest value, or from 0 to 1.
    domain : {'finite', 'cyclic', 'endless'}
        What lies outside: nothing, the same field again (a texture that tiles), or more of it.
    range : {'paper', 'unbiased'}
        Random numbers and rounding of integer heights; the paper's let them drift downwards.
    roughness : float
        Random numbers shrink by 2^-roughness a level; less is rougher.
    amplitude : float
        Factor of the random numbers.
    corners : sequence of float
        Heights of the corners from 0 to 1: top left, top right, bottom left, bottom right; one if cyclic. Default: random.
    origin : (int, int)
        Cell (x, y) of the field at the array's first sample.
    backend : {'auto', 'cpu', 'cuda'}
        'auto': the CPU, unless output='device'. The bits are the same.
    threads : int, optional
        Of the CPU backend.
    output : {'host', 'device'}
        'device': the field is a `DeviceArray`, which stays on the GPU.
    stream : optional
        CUDA stream for the work: a PyTorch or CuPy stream, or a handle.

    Returns
    -------
    (height, width) or (channels, height, width) array

    References
    ----------
    Fournier, Fussell, Carpenter, Communications of the ACM 25(6), 1982.
    """
    if not isinstance(n, (int, np.integer)) or not 1 <= n <= 16:  # to the stage 0 means any
        raise ValueError(f"n is {n!r}, allowed 1 to 16")
    if size is None:
        size = (2**n + (domain != "cyclic"),) * 2
    params = {"exponent": n, "size": size, "fields": channels, "number_type": np.dtype(dtype).name, "domain": domain, "range": range,
              "roughness": roughness, "amplitude": amplitude, "corners": list(corners)}
    return _core.diamond_square(params, int(seed), tuple(origin), decide(backend, output, stream), threads, output == "device", stream)
