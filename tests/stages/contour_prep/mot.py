"""Counts how well ids follow objects, as MOTChallenge does (CLEAR MOT: K. Bernardin and R. Stiefelhagen, "Evaluating multiple object
tracking performance", 2008): in every frame boxes of truth and of contours are paired from an overlap of 0.5 on, those that were pairs
in the frame before first, the others so that the sum of overlaps is largest. A switch is a truth that is paired with another id than
the last time, a fragment one that was paired, was not in between, and is again."""
import numpy as np
from scipy.optimize import linear_sum_assignment

LEAST_OVERLAP = 0.5


def overlap(one, other):
    """Intersection over union of boxes (left, top, right, bottom)."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    both = max(width, 0) * max(height, 0)
    area = [(box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)]
    return both / (sum(area) - both) if both > 0 else 0.0


class Mot:
    def __init__(self):
        self.frames = self.truths = self.missed = self.extra = self.switches = self.fragments = 0
        self.last = {}       # truth -> the id that it was paired with last
        self.now = {}        # of the frame before
        self.broken = set()  # truths that were paired once and are not now
        self.seen = set()    # all truths

    def add(self, truth, found):
        """`truth` and `found`: a box by each name or id."""
        pairs = {name: found_id for name, found_id in self.now.items()
                 if name in truth and found_id in found and overlap(truth[name], found[found_id]) >= LEAST_OVERLAP}
        names = [name for name in truth if name not in pairs]
        ids = [one for one in found if one not in pairs.values()]
        overlaps = np.array([[overlap(truth[name], found[one]) for one in ids] for name in names]).reshape(len(names), len(ids))
        for row, col in zip(*linear_sum_assignment(np.where(overlaps >= LEAST_OVERLAP, overlaps, 0), maximize=True)):
            if overlaps[row, col] >= LEAST_OVERLAP:
                pairs[names[row]] = ids[col]
        for name, one in pairs.items():
            self.switches += self.last.get(name, one) != one
            self.fragments += name in self.broken
            self.broken.discard(name)
            self.last[name] = one
        self.broken |= {name for name in truth if name not in pairs and name in self.last}
        self.frames += 1
        self.truths += len(truth)
        self.missed += len(truth) - len(pairs)
        self.extra += len(found) - len(pairs)
        self.seen |= set(truth)
        self.now = pairs

    @property
    def mota(self):
        return 1 - (self.missed + self.extra + self.switches) / max(self.truths, 1)
