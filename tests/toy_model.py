"""An estimator that holds one of everything, and an independent writer of model files."""

import hashlib
import json
import struct

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans

MAGIC = b"\x89FNMF\r\n\x1a"


class Toy(ClusterMixin, BaseEstimator):
    """Holds one of everything an estimator of the package may hold."""

    def __init__(
        self, n_components=2, *, graph=None, init="random", random_state=None, n_jobs=None
    ):
        self.n_components = n_components
        self.graph = graph
        self.init = init
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        n, d = X.shape
        self.n_features_in_ = d
        self.components_ = np.asfortranarray(X[: self.n_components])
        self.embedding_ = np.ascontiguousarray(X[:, : self.n_components])
        self.feature_weights_ = np.full((3, d), 1 / d, dtype=np.float32)
        self.feature_names_in_ = np.array([f"näme {i}\x00\ud800" for i in range(d)], dtype=object)
        self.graph_ = sp.csr_array(np.eye(n)[::-1])
        self.labels_ = np.arange(n) % 2
        self.history_ = np.array(
            [(1.5, 2), (float("nan"), 3)], dtype=[("total", "f8"), ("iteration", "i4")]
        )
        self.objective_ = float("inf")
        self.error_ = np.float32(0.1)
        self.n_iter_ = 7
        self.note_ = None
        self.empty_ = np.zeros((0, 4))
        self.classes_ = np.array(["a", "bé"])
        self.settled_ = np.array([True, False])
        self.nested_ = {"list": [1, (2.5, "x")], "big": 2**100}
        self.kmeans_ = KMeans(2, n_init=1, random_state=0).fit(self.embedding_)
        return self


def sign(header: bytes, payload: bytes = b"", version: int = 1, **sizes: int) -> bytes:
    """An independent writer of the format, for files no honest program would write."""
    head = MAGIC + struct.pack(
        "<IIQQ",
        version,
        0,
        sizes.get("header_size", len(header)),
        sizes.get("payload_size", len(payload)),
    )
    return head + hashlib.sha256(head + header + payload).digest() + header + payload


def split(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[16:24])[0]
    return json.loads(data[64 : 64 + size]), data[64 + size :]


def rewrite(path, header, payload):
    path.write_bytes(sign(json.dumps(header).encode(), payload))
