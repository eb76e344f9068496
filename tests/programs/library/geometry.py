"""Polygons, rotations, joints, paths and point sets."""

import bisect
import math

import numpy as np

from tests.programs.registry import program

rng = np.random.default_rng(53)


@program([[0.0, 0.0], [2.0, 0.1], [2.1, 2.0], [0.1, 1.9]])
def centroid_of_point_lists(points):
    area = x = y = 0
    for (x0, y0), (x1, y1) in zip(points, points[1:] + points[:1]):
        cross = x0 * y1 - x1 * y0
        area += cross / 2
        x += (x0 + x1) * cross
        y += (y0 + y1) * cross
    return x / (6 * area), y / (6 * area)


class Rotor:
    def __init__(self, w, x, y, z):
        self.w, self.x, self.y, self.z = w, x, y, z

    @classmethod
    def about(cls, axis, angle):
        s = math.sin(angle / 2) / math.sqrt(sum(a * a for a in axis))
        return cls(math.cos(angle / 2), *(a * s for a in axis))

    def __mul__(self, other):
        if isinstance(other, Rotor):
            a, b = self, other
            return Rotor(
                a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                a.w * b.y + a.y * b.w + a.z * b.x - a.x * b.z,
                a.w * b.z + a.z * b.w + a.x * b.y - a.y * b.x,
            )
        return Rotor(self.w * other, self.x * other, self.y * other, self.z * other)

    __rmul__ = __mul__

    def conjugate(self):
        return Rotor(self.w, -self.x, -self.y, -self.z)

    def __abs__(self):
        return math.sqrt(self.w**2 + self.x**2 + self.y**2 + self.z**2)

    def __truediv__(self, s):
        return self * (1 / s)

    def rotate(self, v):
        r = self * Rotor(0, *v) * self.conjugate()
        return r.x, r.y, r.z


@program(0.6, [1.0, 0.5, 0.2])
def rotation_by_quaternions(angle, v):
    q = Rotor.about((1.0, 2.0, 0.5), angle)
    doubled = 2 * q * q
    return (doubled / abs(doubled)).rotate(v), abs(doubled)


class Link:
    def __init__(self, row):
        self.row = row

    def frame(self):
        theta, alpha, a, d = self.row
        st, ct, sa, ca = math.sin(theta), math.cos(theta), math.sin(alpha), math.cos(alpha)
        return np.array(
            [
                [ct, -st * ca, st * sa, a * ct],
                [st, ct * ca, -ct * sa, a * st],
                [0, sa, ca, d],
                [0, 0, 0, 1],
            ]
        )


class Arm:
    def __init__(self, rows):
        self.links = []
        for i in range(len(rows)):
            self.links.append(Link(rows[i]))

    def hand(self):
        frame = np.identity(4)
        for link in self.links:
            frame = np.dot(frame, link.frame())
        return frame[:3, 3]

    def turn(self, by):
        for i in range(len(self.links)):
            self.links[i].row[0] += by[i]


@program([[0.1, -1.5, 0.1, 0.3], [1.5, 1.4, 0.0, 0.2], [0.3, -1.5, 0.2, 0.4]], order=1)
def arm_of_links_made_in_a_loop(rows):
    arm = Arm(rows)
    before = arm.hand()
    arm.turn([0.1, 0.2, before[0]])
    return arm.hand()


class Curve:
    """A cubic spline, with its coefficients in growing lists."""

    def __init__(self, x, y):
        self.b, self.d = [], []
        self.x, self.count = x, len(x)
        h = np.diff(x)
        self.a = [value for value in y]
        self.c = np.linalg.solve(self.__matrix(h), self.__right_side(h))
        for i in range(self.count - 1):
            self.d.append((self.c[i + 1] - self.c[i]) / (3.0 * h[i]))
            rise = (self.a[i + 1] - self.a[i]) / h[i]
            self.b.append(rise - h[i] * (self.c[i + 1] + 2.0 * self.c[i]) / 3.0)

    def at(self, t):
        i = bisect.bisect(self.x, t) - 1
        dx = t - self.x[i]
        return self.a[i] + self.b[i] * dx + self.c[i] * dx**2.0 + self.d[i] * dx**3.0

    def __matrix(self, h):
        matrix = np.zeros((self.count, self.count))
        matrix[0, 0] = matrix[-1, -1] = 1.0
        for i in range(self.count - 2):
            matrix[i + 1, i : i + 3] = h[i], 2.0 * (h[i] + h[i + 1]), h[i + 1]
        return matrix

    def __right_side(self, h):
        right = np.zeros(self.count)
        for i in range(self.count - 2):
            before = (self.a[i + 1] - self.a[i]) / h[i]
            right[i + 1] = 3.0 * ((self.a[i + 2] - self.a[i + 1]) / h[i + 1] - before)
        return right


@program([-2.5, 0.0, 2.5, 5.0], [0.7, -6.0, 5.0, 6.5], order=1)
def path_by_two_curves(x, y):
    lengths = [math.hypot(dx, dy) for dx, dy in zip(np.diff(x), np.diff(y))]
    s = [0]
    s.extend(np.cumsum(lengths))
    along_x, along_y = Curve(s, x), Curve(s, y)
    places = [(along_x.at(t), along_y.at(t)) for t in (1.0, 7.5, 12.0)]
    return sum(px * py for px, py in places)


@program([[0.0, 0.1], [1.0, 0.2], [2.0, 0.4], [2.5, 1.0], [2.0, 2.0]], 0.4, 0.1, order=1)
def path_smoothed_until_it_rests(path, pull, smooth):
    made = [list(point) for point in path]
    change = 1.0
    while change >= 0.3:
        change = 0.0
        for i in range(1, len(path) - 1):
            for j in range(len(path[0])):
                old = made[i][j]
                made[i][j] += pull * (path[i][j] - made[i][j])
                made[i][j] += smooth * (made[i - 1][j] + made[i + 1][j] - 2.0 * made[i][j])
                change += abs(old - made[i][j])
    return made


def transform_after(before, rotation, shift):
    size = rotation.shape[0]
    made = np.zeros((size + 1, size + 1))
    made[0:size, 0:size] = rotation
    made[0:size, size] = shift
    made[size, size] = 1.0
    return made if before is None else before @ made


@program(rng.normal(size=(2, 4)) * 3, order=1)
def points_matched_until_error_settles(points):
    moved = np.array([[0.99 * x - 0.1 * y, 0.1 * x + 0.99 * y] for x, y in points.T]).T + 0.1
    transform, previous, count = None, np.inf, 0
    while count < 3:
        count += 1
        error = sum(np.linalg.norm(points - moved, axis=0))
        m, n = np.mean(points, axis=1), np.mean(moved, axis=1)
        u, _, vh = np.linalg.svd((moved - n[:, np.newaxis]) @ (points - m[:, np.newaxis]).T)
        rotation = (u @ vh).T
        moved = rotation @ moved + (m - rotation @ n)[:, np.newaxis]
        transform = transform_after(transform, rotation, m - rotation @ n)
        if previous - error < 0:
            break
        previous = error
    return transform[0:-1, -1]
