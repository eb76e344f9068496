"""Filters, convolutions and transforms."""

import cmath
import math

import numpy as np

from tests.programs.registry import program

rng = np.random.default_rng(6)
s12 = rng.normal(size=12)
s8 = rng.normal(size=8)


@program(s12, 0.3)
def exponential_smoothing(x, alpha):
    y = np.zeros_like(x)
    y[0] = x[0]
    for n in range(1, len(x)):
        y[n] = alpha * x[n] + (1 - alpha) * y[n - 1]
    return y


@program(s12, np.array([0.2, 0.3, 0.1]), np.array([1.0, -0.5, 0.2]))
def iir_direct_form(x, b, a):
    y = np.zeros(len(x))
    for n in range(len(x)):
        for k in range(len(b)):
            if n - k >= 0:
                y[n] += b[k] * x[n - k]
        for k in range(1, len(a)):
            if n - k >= 0:
                y[n] -= a[k] * y[n - k]
        y[n] /= a[0]
    return y


@program(s12, np.array([[0.2, 0.4, 0.2, -0.3, 0.1], [0.5, -0.2, 0.1, 0.4, 0.3]]))
def biquad_cascade(x, sections):
    y = x.copy()
    for b0, b1, b2, a1, a2 in sections:
        z1 = z2 = 0.0
        for n in range(len(y)):
            v = y[n]
            out = b0 * v + z1
            z1 = b1 * v - a1 * out + z2
            z2 = b2 * v - a2 * out
            y[n] = out
    return y


class OnePole:
    def __init__(self, a):
        self.a = a
        self.state = 0.0

    def step(self, x):
        self.state = (1 - self.a) * x + self.a * self.state
        return self.state


@program(s12, 0.7)
def filter_object(x, a):
    f = OnePole(a)
    out = []
    for v in x:
        out.append(f.step(v))
    return np.array(out)


@program(s12, np.array([0.5, 0.3, -0.2]))
def convolution_loops(x, h):
    n, m = len(x), len(h)
    y = np.zeros(n + m - 1)
    for i in range(n):
        for j in range(m):
            y[i + j] = y[i + j] + x[i] * h[j]
    return y


@program(rng.normal(size=(5, 6)), rng.normal(size=(3, 2)))
def convolution_two_dimensions(image, kernel):
    H, W = image.shape
    kh, kw = kernel.shape
    out = np.zeros((H - kh + 1, W - kw + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.sum(image[i : i + kh, j : j + kw] * kernel)
    return out


@program(s12)
def moving_average(x, w=3):
    return np.array([x[i : i + w].mean() for i in range(len(x) - w + 1)])


@program(s12, s12[::-1].copy())
def cross_correlation(x, y):
    n = len(x)
    best = -np.inf
    for lag in range(-3, 4):
        c = 0.0
        for i in range(n):
            if 0 <= i + lag < n:
                c += x[i] * y[i + lag]
        if c > best:
            best = c
    return best


@program(s8)
def discrete_fourier_power(x):
    N = len(x)
    power = np.zeros(N // 2 + 1)
    for k in range(N // 2 + 1):
        re = im = 0.0
        for n in range(N):
            re += x[n] * math.cos(2 * math.pi * k * n / N)
            im -= x[n] * math.sin(2 * math.pi * k * n / N)
        power[k] = re**2 + im**2
    return power


def fft_recursive(x):
    n = len(x)
    if n == 1:
        return x
    even = fft_recursive(x[0::2])
    odd = fft_recursive(x[1::2])
    w = np.exp(-2j * np.pi * np.arange(n // 2) / n)
    return np.concatenate((even + w * odd, even - w * odd))


@program(s8)
def fourier_recursive(x):
    return np.abs(fft_recursive(x + 0j)) ** 2


@program(s8)
def fourier_butterflies_in_place(x):
    """Iterative radix 2 on real and imaginary parts, after bit reversal."""
    n = len(x)
    re = x.copy()
    im = np.zeros(n)
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j ^= bit
        if i < j:
            re[i], re[j] = re[j], re[i]
    size = 2
    while size <= n:
        half = size // 2
        angle = -2 * math.pi / size
        for start in range(0, n, size):
            for k in range(half):
                wr, wi = math.cos(angle * k), math.sin(angle * k)
                a, b = start + k, start + k + half
                tr = wr * re[b] - wi * im[b]
                ti = wr * im[b] + wi * re[b]
                re[b] = re[a] - tr
                im[b] = im[a] - ti
                re[a] += tr
                im[a] += ti
        size *= 2
    return re**2 + im**2


@program(s8)
def fourier_complex_in_place(x):
    a = x.astype(complex)
    n = len(a)
    bits = n.bit_length() - 1
    for i in range(n):
        j = int(format(i, f"0{bits}b")[::-1], 2)
        if j > i:
            a[i], a[j] = a[j], a[i]
    m = 2
    while m <= n:
        wm = cmath.exp(-2j * cmath.pi / m)
        for k in range(0, n, m):
            w = 1
            for j in range(m // 2):
                t = w * a[k + j + m // 2]
                u = a[k + j]
                a[k + j] = u + t
                a[k + j + m // 2] = u - t
                w *= wm
        m *= 2
    return np.real(a * np.conj(a))


@program(s8)
def haar_wavelet(x):
    out = x.copy()
    n = len(out)
    while n > 1:
        half = n // 2
        temp = np.zeros(n)
        for i in range(half):
            temp[i] = (out[2 * i] + out[2 * i + 1]) / math.sqrt(2)
            temp[half + i] = (out[2 * i] - out[2 * i + 1]) / math.sqrt(2)
        out[:n] = temp
        n = half
    return out


@program(s8)
def lifting_wavelet(x):
    even, odd = x[::2].copy(), x[1::2].copy()
    odd[:-1] -= 0.5 * (even[:-1] + even[1:])
    odd[-1] -= even[-1]
    even[1:] += 0.25 * (odd[1:] + odd[:-1])
    even[0] += 0.5 * odd[0]
    return np.concatenate([even, odd])


@program(s12, np.convolve(s12, [0.5, -0.2, 0.1])[:12], 0.05)
def least_mean_squares(x, d, mu):
    w = np.zeros(3)
    total = 0.0
    for n in range(2, len(x)):
        u = x[n - 2 : n + 1][::-1]
        e = d[n] - w @ u
        w = w + mu * e * u
        total += e**2
    return total


@program(s12, 0.1)
def normalized_lms_in_place(x, mu):
    taps = 4
    w = np.zeros(taps)
    y = np.zeros(len(x))
    for n in range(taps, len(x)):
        window = x[n - taps : n]
        y[n] = np.dot(w, window)
        err = x[n] - y[n]
        w += mu * err * window / (0.1 + np.dot(window, window))
    return y


@program(s12, np.array([0.4, 0.1]))
def recursive_least_squares(x, w):
    P = 10 * np.eye(2)
    lam = 0.95
    for n in range(2, len(x)):
        u = np.array([x[n - 1], x[n - 2]])
        k = P @ u / (lam + u @ P @ u)
        w = w + k * (x[n] - w @ u)
        P = (P - np.outer(k, u @ P)) / lam
    return w


@program(s12)
def levinson_durbin(x):
    order = 3
    r = np.zeros(order + 1)
    for k in range(order + 1):
        r[k] = np.sum(x[: len(x) - k] * x[k:])
    a = np.zeros(order + 1)
    a[0] = 1.0
    e = r[0]
    for i in range(1, order + 1):
        acc = r[i]
        for j in range(1, i):
            acc += a[j] * r[i - j]
        k = -acc / e
        new = a.copy()
        for j in range(1, i):
            new[j] = a[j] + k * a[i - j]
        new[i] = k
        a = new
        e *= 1 - k * k
    return a, e


@program(s12, 0.4)
def soft_threshold_denoise(x, t):
    y = x.copy()
    for i in range(len(y)):
        if y[i] > t:
            y[i] -= t
        elif y[i] < -t:
            y[i] += t
        else:
            y[i] = 0.0
    return y


@program(s8, 440.0)
def goertzel(x, freq):
    w = 2 * math.pi * freq / 8000
    coeff = 2 * math.cos(w)
    s_prev, s_prev2 = 0.0, 0.0
    for sample in x:
        s = sample + coeff * s_prev - s_prev2
        s_prev2 = s_prev
        s_prev = s
    return s_prev2**2 + s_prev**2 - coeff * s_prev * s_prev2


@program(0.5, 0.996)
def karplus_strong(excitation, decay):
    line = [excitation * math.sin(1.7 * k) for k in range(5)]
    out = []
    for n in range(12):
        v = decay * 0.5 * (line[0] + line[1])
        out.append(line[0])
        line = line[1:] + [v]
    return sum(v**2 for v in out)


@program(s12)
def windowed_spectrum(x):
    n = len(x)
    w = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(n) / (n - 1))
    t = np.arange(n)
    energy = 0.0
    for k in range(4):
        c = np.sum(w * x * np.cos(2 * np.pi * k * t / n))
        s = np.sum(w * x * np.sin(2 * np.pi * k * t / n))
        energy += np.sqrt(c**2 + s**2)
    return energy


@program([1.0, 2.0, 0.5, 3.0])
def haar_by_slices(signal):
    output = [0.0] * len(signal)
    length = len(signal) >> 1
    while True:
        for i in range(length):
            output[i] = (signal[2 * i] + signal[2 * i + 1]) / 2
            output[length + i] = (signal[2 * i] - signal[2 * i + 1]) / 2
        if length == 1:
            return output
        signal = output[: length << 1]
        length >>= 1


class Section:
    """A filter of order two, with constructors by name."""

    def __init__(self, b, a):
        self.b, self.a = b, a
        self.x1 = self.x2 = self.y1 = self.y2 = 0.0

    @classmethod
    def low_pass(cls, frequency, q, rate):
        w = 2 * math.pi * frequency / rate
        alpha, c = math.sin(w) / (2 * q), math.cos(w)
        return cls([(1 - c) / 2, 1 - c, (1 - c) / 2], [1 + alpha, -2 * c, 1 - alpha])

    def process(self, x):
        (b0, b1, b2), (a0, a1, a2) = self.b, self.a
        y = (b0 * x + b1 * self.x1 + b2 * self.x2 - a1 * self.y1 - a2 * self.y2) / a0
        self.x2, self.x1 = self.x1, x
        self.y2, self.y1 = self.y1, y
        return y


@program(rng.normal(size=6), 800.0, order=1)
def sections_made_for_each_pole(signal, frequency):
    count = 3
    sections = [Section.low_pass(frequency, 0.5 + 0.3 * k, 8000) for k in range(count)]
    made = []
    for sample in signal:
        for section in sections:
            sample = section.process(sample)
        made.append(sample)
    return np.array(made)


@program(np.linspace(0.01, 0.99, 7), 0.12, 0.23, 0.5, 0.21)
def envelope_by_pieces(t, attack, decay, sustain, release):
    end = t[-1] + 0.02
    return np.piecewise(
        t,
        [t < attack, (t >= attack) & (t < attack + decay), t >= end - release],
        [
            lambda t: t / attack,
            lambda t: 1 - (1 - sustain) * (t - attack) / decay,
            lambda t: sustain * (end - t) / release,
            sustain,
        ],
    )
