"""Compiled pieces that work on four rows at a time.

Four rows of X meet tiles of five components or three weightings, so that every value loaded
from memory takes part in several multiply-adds that stay in registers. Callers pad the number
of components to a multiple of five and of weightings to a multiple of three with zeros.
"""

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic, register_jitable

from fnmf._compile import FAST, njit

ROWS, COMPONENTS, WEIGHTINGS = 4, 5, 3
# Internal arrays over the features are padded to whole cache lines (of either float type).
LINE = 16


def _wide_vectors(typing_context):  # type: ignore[no-untyped-def]
    """Let LLVM use 512-bit registers in this function; it avoids them by default."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        # llvmlite only knows attributes without a value; as text this one is valid all the same.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), generate


wide_vectors: Any = intrinsic(_wide_vectors)


@register_jitable
def padded(size: int, tile: int) -> int:
    """``size`` rounded up to a multiple of ``tile``."""
    return -(-size // tile) * tile


@register_jitable
def zeros(rows, columns, like):  # type: ignore[no-untyped-def]
    """Zeros of the type of ``like`` that start on a cache line.

    With ``columns`` a multiple of ``LINE`` every row does, and no wide load straddles two lines.
    """
    buffer = np.zeros(rows * columns + LINE, like.dtype)
    start = ((64 - buffer.ctypes.data % 64) % 64) // like.itemsize
    return buffer[start : start + rows * columns].reshape(rows, columns)


@njit(nogil=True, cache=True, fastmath=FAST, forceinline=True)
def weigh(x0, x1, x2, x3, mix, weights, out):  # type: ignore[no-untyped-def]
    """out[r] = x_r ∘ (mix[r] @ weights)."""
    wide_vectors()
    y0, y1, y2, y3 = out[0], out[1], out[2], out[3]
    for j in range(0, weights.shape[0], WEIGHTINGS):
        w0, w1, w2 = weights[j], weights[j + 1], weights[j + 2]
        a0, a1, a2 = mix[0, j], mix[0, j + 1], mix[0, j + 2]
        b0, b1, b2 = mix[1, j], mix[1, j + 1], mix[1, j + 2]
        c0, c1, c2 = mix[2, j], mix[2, j + 1], mix[2, j + 2]
        d0, d1, d2 = mix[3, j], mix[3, j + 1], mix[3, j + 2]
        if j == 0:
            for k in range(x0.shape[0]):
                p, q, r = w0[k], w1[k], w2[k]
                y0[k] = x0[k] * (a0 * p + a1 * q + a2 * r)
                y1[k] = x1[k] * (b0 * p + b1 * q + b2 * r)
                y2[k] = x2[k] * (c0 * p + c1 * q + c2 * r)
                y3[k] = x3[k] * (d0 * p + d1 * q + d2 * r)
        else:
            for k in range(x0.shape[0]):
                p, q, r = w0[k], w1[k], w2[k]
                y0[k] += x0[k] * (a0 * p + a1 * q + a2 * r)
                y1[k] += x1[k] * (b0 * p + b1 * q + b2 * r)
                y2[k] += x2[k] * (c0 * p + c1 * q + c2 * r)
                y3[k] += x3[k] * (d0 * p + d1 * q + d2 * r)


@njit(nogil=True, cache=True, fastmath=FAST, forceinline=True)
def project(y0, y1, y2, y3, basis, out):  # type: ignore[no-untyped-def]
    """out[r] = basis @ y_r."""
    wide_vectors()
    zero = out.dtype.type(0)
    for c in range(0, basis.shape[0], COMPONENTS):
        u0, u1, u2, u3, u4 = basis[c], basis[c + 1], basis[c + 2], basis[c + 3], basis[c + 4]
        a0 = a1 = a2 = a3 = a4 = zero
        b0 = b1 = b2 = b3 = b4 = zero
        c0 = c1 = c2 = c3 = c4 = zero
        d0 = d1 = d2 = d3 = d4 = zero
        for k in range(y0.shape[0]):
            p, q, r, s = y0[k], y1[k], y2[k], y3[k]
            a0 += p * u0[k]
            b0 += q * u0[k]
            c0 += r * u0[k]
            d0 += s * u0[k]
            a1 += p * u1[k]
            b1 += q * u1[k]
            c1 += r * u1[k]
            d1 += s * u1[k]
            a2 += p * u2[k]
            b2 += q * u2[k]
            c2 += r * u2[k]
            d2 += s * u2[k]
            a3 += p * u3[k]
            b3 += q * u3[k]
            c3 += r * u3[k]
            d3 += s * u3[k]
            a4 += p * u4[k]
            b4 += q * u4[k]
            c4 += r * u4[k]
            d4 += s * u4[k]
        out[0, c], out[0, c + 1], out[0, c + 2], out[0, c + 3], out[0, c + 4] = a0, a1, a2, a3, a4
        out[1, c], out[1, c + 1], out[1, c + 2], out[1, c + 3], out[1, c + 4] = b0, b1, b2, b3, b4
        out[2, c], out[2, c + 1], out[2, c + 2], out[2, c + 3], out[2, c + 4] = c0, c1, c2, c3, c4
        out[3, c], out[3, c + 1], out[3, c + 2], out[3, c + 3], out[3, c + 4] = d0, d1, d2, d3, d4


@njit(nogil=True, cache=True, fastmath=FAST, forceinline=True)
def target_residuals(x0, x1, x2, x3, fits, weights, out):  # type: ignore[no-untyped-def]
    """out[r, j] = ‖weights_j ∘ x_r − fits_r‖², computed directly: nothing cancels."""
    wide_vectors()
    zero = out.dtype.type(0)
    f0, f1, f2, f3 = fits[0], fits[1], fits[2], fits[3]
    for j in range(0, weights.shape[0], WEIGHTINGS):
        w0, w1, w2 = weights[j], weights[j + 1], weights[j + 2]
        a0 = a1 = a2 = b0 = b1 = b2 = c0 = c1 = c2 = d0 = d1 = d2 = zero
        for k in range(x0.shape[0]):
            p, q, r = w0[k], w1[k], w2[k]
            x, f = x0[k], f0[k]
            a0 += (p * x - f) * (p * x - f)
            a1 += (q * x - f) * (q * x - f)
            a2 += (r * x - f) * (r * x - f)
            x, f = x1[k], f1[k]
            b0 += (p * x - f) * (p * x - f)
            b1 += (q * x - f) * (q * x - f)
            b2 += (r * x - f) * (r * x - f)
            x, f = x2[k], f2[k]
            c0 += (p * x - f) * (p * x - f)
            c1 += (q * x - f) * (q * x - f)
            c2 += (r * x - f) * (r * x - f)
            x, f = x3[k], f3[k]
            d0 += (p * x - f) * (p * x - f)
            d1 += (q * x - f) * (q * x - f)
            d2 += (r * x - f) * (r * x - f)
        out[0, j], out[0, j + 1], out[0, j + 2] = a0, a1, a2
        out[1, j], out[1, j + 1], out[1, j + 2] = b0, b1, b2
        out[2, j], out[2, j + 1], out[2, j + 2] = c0, c1, c2
        out[3, j], out[3, j + 1], out[3, j + 2] = d0, d1, d2


@njit(nogil=True, cache=True, fastmath=FAST, forceinline=True)
def weighted_residuals(x0, x1, x2, x3, fits, weights, out):  # type: ignore[no-untyped-def]
    """out[r, j] = Σ_k weights_jk (x_rk − fits_rk)²."""
    wide_vectors()
    zero = out.dtype.type(0)
    f0, f1, f2, f3 = fits[0], fits[1], fits[2], fits[3]
    for j in range(0, weights.shape[0], WEIGHTINGS):
        w0, w1, w2 = weights[j], weights[j + 1], weights[j + 2]
        a0 = a1 = a2 = b0 = b1 = b2 = c0 = c1 = c2 = d0 = d1 = d2 = zero
        for k in range(x0.shape[0]):
            p, q, r = w0[k], w1[k], w2[k]
            t = (x0[k] - f0[k]) * (x0[k] - f0[k])
            a0 += p * t
            a1 += q * t
            a2 += r * t
            t = (x1[k] - f1[k]) * (x1[k] - f1[k])
            b0 += p * t
            b1 += q * t
            b2 += r * t
            t = (x2[k] - f2[k]) * (x2[k] - f2[k])
            c0 += p * t
            c1 += q * t
            c2 += r * t
            t = (x3[k] - f3[k]) * (x3[k] - f3[k])
            d0 += p * t
            d1 += q * t
            d2 += r * t
        out[0, j], out[0, j + 1], out[0, j + 2] = a0, a1, a2
        out[1, j], out[1, j + 1], out[1, j + 2] = b0, b1, b2
        out[2, j], out[2, j + 1], out[2, j + 2] = c0, c1, c2
        out[3, j], out[3, j + 1], out[3, j + 2] = d0, d1, d2


@njit(nogil=True, cache=True, fastmath=FAST, forceinline=True)
def add_moments(x0, x1, x2, x3, fits, mix, energy, cross):  # type: ignore[no-untyped-def]
    """energy_j += Σ_r mix_rj x_r², cross_j += Σ_r mix_rj x_r ∘ fits_r."""
    wide_vectors()
    f0, f1, f2, f3 = fits[0], fits[1], fits[2], fits[3]
    for j in range(0, energy.shape[0], WEIGHTINGS):
        e0, e1, e2 = energy[j], energy[j + 1], energy[j + 2]
        g0, g1, g2 = cross[j], cross[j + 1], cross[j + 2]
        a0, a1, a2 = mix[0, j], mix[0, j + 1], mix[0, j + 2]
        b0, b1, b2 = mix[1, j], mix[1, j + 1], mix[1, j + 2]
        c0, c1, c2 = mix[2, j], mix[2, j + 1], mix[2, j + 2]
        d0, d1, d2 = mix[3, j], mix[3, j + 1], mix[3, j + 2]
        for k in range(x0.shape[0]):
            x, y, z, w = x0[k], x1[k], x2[k], x3[k]
            p, q, r, s = x * x, y * y, z * z, w * w
            e0[k] += a0 * p + b0 * q + c0 * r + d0 * s
            e1[k] += a1 * p + b1 * q + c1 * r + d1 * s
            e2[k] += a2 * p + b2 * q + c2 * r + d2 * s
            p, q, r, s = x * f0[k], y * f1[k], z * f2[k], w * f3[k]
            g0[k] += a0 * p + b0 * q + c0 * r + d0 * s
            g1[k] += a1 * p + b1 * q + c1 * r + d1 * s
            g2[k] += a2 * p + b2 * q + c2 * r + d2 * s


@njit(nogil=True, cache=True, fastmath=FAST, forceinline=True)
def add_energy(x0, x1, x2, x3, mix, energy):  # type: ignore[no-untyped-def]
    """energy_j += Σ_r mix_rj x_r²."""
    wide_vectors()
    for j in range(energy.shape[0]):
        total = energy[j]
        a, b, c, d = mix[0, j], mix[1, j], mix[2, j], mix[3, j]
        for k in range(x0.shape[0]):
            p, q, r, s = x0[k], x1[k], x2[k], x3[k]
            total[k] += a * (p * p) + b * (q * q) + c * (r * r) + d * (s * s)
