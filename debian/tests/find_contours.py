"""The installed package finds the square of a map."""
import contorno
import numpy as np

field = np.zeros((5, 5))
field[1:4, 1:4] = 1
(contour,) = contorno.find_contours(field, 0.5)
assert contour.shape == (13, 2) and np.array_equal(contour[0], contour[-1])
assert contour.min() == 0.5 and contour.max() == 3.5
