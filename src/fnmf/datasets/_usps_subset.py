"""Which rows of the public USPS files make up the subset of 1854 digits used in the literature.

The rows are floor(20 %) of each class, scattered over ``zip.train`` (7291 rows) followed by
``zip.test`` (2007 rows). They are kept as a bit mask; the subset lists them class by class.
"""

import base64
import zlib

import numpy as np

from fnmf.datasets._files import DataFileError

N_ROWS = 9298

_MASK = (
    "eNoVVE1vHEUQfd1Tu+7dTEzPZm02TpBqP2wNJoex5QPH3s3GGW98cCJjBcFhbUCKOBlOHHudZDW2fJgNTmQQQuNg"
    "gQ8czB9AE2RQQBbyBc4WSIhDDvwE2n0qdVV1vXrvqcEc8krIQr+yfHaAbLGqrCKzC3wT+ZdmoeeJFEqbeWr8xP42"
    "Ic5Ltgy/YfZ8qEvIyQY4OfcrsA9L/Tih7BaoZq8IHmCoBbM+GUjMvIyq9LuSD0a4DLQHsZHAvRZ03jWrKOO7RHE+"
    "oQGEvSxnaZjssZAPudqrpI34Q1gRaAqD9R7V+37si0eVKxk/CUENlYeYkHoJ/ZvyW/UcSQWM/1RLCPuIiiZWlkVQ"
    "Sq8lldM1/uGr9H4IY1Ih0zzrcfeuprxt90D6XXV/U6YFHEMYbOO6bKEL3sb08i/3gEPgLA75RrZBBIeTzMsxIU17"
    "DhZJzeal+1IY3hIkQlesBHZgrr2qj8IywKnnQZqa+Xj8L6+Ot+4IW4xI0gSJA6/+9TxjC+cYeJNdjapFYIECuvxc"
    "7InuGgUL0wvGNNzME3u1alA76xzidbzxDMXK+A5qr9lDgwp25t0gqHDfgOLC0wDxs0qZv+/rfQHFlFsNrfnZe5e0"
    "Mki0MQlUS3Fm/kZiUZ5MW2/b06rEZ6XG7ZZuRUXTjAa6aRgsdrE+s+VjSvuk/TgrLAmjBbBgQhwb1tT591dIyDNH"
    "rKkUsPLHBZS9bGDKsqdkCvMzMjG9B0FTYwi2rgSA3Udb4qcs3XgRiLbpQOx80RJTmSFk+bZTlQtK6Z1V3hzDdazL"
    "ak+UrVEQR8i6uDj1psYI72vMOfhotYP+7GXnhxmZYLEDfK6vA0P4tGsnKXnT64wQvug38AG54Uwbs1KgWZsXFulg"
    "2y2JcdZy7CkvwH7aKXVbSllttXxknarZOmvu54ohsBibEfN+fczF1joWBsWyOsD48E8tDq2NAnveFv8oZwYyNAmb"
    "jOJkOVLmhoCcwwZ51JHmHfal0LD9iSfdlnviTt+hwpEFFY7qmVCq0VVURtqtDitNhNGK6tFHUc3RDqjz2HVSo5Rg"
    "eQCULrhYi6wz2BA4eCAaugBsuuuGmnTqtWx7EsYr+tKUCDUVrQCPy1ejyOW54g2VKMaWTXja8HQwtCtOriCzyoiy"
    "c/YRy8sSd29G8SxUGo60d7Z5WxJxKJpbZIoeLS/pJQUm7IvxZJZYwrg+VwGs0pesyoXHXMRNdQv2x1RN0HqxOFNx"
    "yfATeAOS7EL3ReTocAP/A+m46u4="
)


def subset_rows(labels: np.ndarray) -> np.ndarray:
    """Row numbers of the subset in its own order: by class, then by row."""
    if len(labels) != N_ROWS:
        raise DataFileError(
            f"USPS has {len(labels)} rows instead of {N_ROWS}; put zip.train and zip.test of "
            "The Elements of Statistical Learning in place."
        )
    packed = np.frombuffer(zlib.decompress(base64.b64decode(_MASK)), dtype=np.uint8)
    rows = np.flatnonzero(np.unpackbits(packed, count=N_ROWS))
    return rows[np.argsort(labels[rows], kind="stable")]
