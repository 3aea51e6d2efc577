"""Service times, in seconds. Several laws, since an engine that is right for one may be wrong for the
next: symmetric, skewed, with a heavy tail, with two modes."""

import random


class Laws:
    def __init__(self, seed):
        self._random = random.Random(seed)

    def chance(self, p):
        return self._random.random() < p

    def choice(self, items, weights=None):
        return self._random.choices(items, weights)[0]

    def integer(self, low, high):
        return self._random.randint(low, high)

    def popular(self, count):
        """1 to COUNT, small numbers more often, as with goods in a shop."""
        return int(count * self._random.random() ** 2) + 1

    def exponential(self, mean):
        return self._random.expovariate(1 / mean)

    def gamma(self, shape, mean):
        return self._random.gammavariate(shape, mean / shape)

    def lognormal(self, median, sigma):
        return median * self._random.lognormvariate(0, sigma)

    def normal(self, mean, share):
        """Cut at a tenth of the mean."""
        return max(self._random.gauss(mean, share * mean), mean / 10)

    def uniform(self, low, high):
        return self._random.uniform(low, high)

    def two_modes(self, fast, slow, p_slow):
        return self.normal(slow if self.chance(p_slow) else fast, 0.15)

    def pareto(self, least, alpha, most):
        return min(least * self._random.paretovariate(alpha), most)
