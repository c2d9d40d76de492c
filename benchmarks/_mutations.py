"""Files that nearly make sense: good ones with their structure or their bytes changed."""

import csv
import io
import json
import struct
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

_STRANGE_CELLS = (
    *("", "-", "NA", "1e999", "-1e-999", "1_000", "0x10", "١٢", "1.234", "1,234", "1.234,5"),
    *("12.03.2021", "2021-02-30", "'1", "=1+1", '"', '""', "\x00", "\ud800", "\u202e", "inf"),
    *("9" * 400, " " * 300, "1" * 20_000 + "x", "a" * 200_000, "\r", "\n", "−5", "1\u00a0234"),
    *("12%", "$1,234.5", "-€3", "5 USD", "%", "1%2", '{"a": 1}', "<html>", "Report of 2024"),
)
# What stands before and behind the numbers of a whole column.
_UNITS = ("{}%", "${}", "{} EUR", "- £{}", "{} %", "€ {}")
_STRANGE_SIZES = (0, 1, -1, 2, 7, 2**31 - 1, 2**31, 2**32, 2**40, 2**63 - 1, 10**10, -(2**31))


def flip_bytes(rng: np.random.Generator, content: bytes) -> bytes:
    """A few bytes changed, cut out, doubled, or the end cut off."""
    data = bytearray(content)
    for _ in range(int(rng.choice([1, 2, 5], p=[0.6, 0.3, 0.1]))):
        at = int(rng.integers(len(data))) if data else 0
        match rng.integers(6):
            case 0:
                data[at : at + 1] = bytes([int(rng.integers(256))])
            case 1:
                data[at : at + 1] = bytes([data[at] ^ (1 << int(rng.integers(8)))]) if data else b""
            case 2:
                data[at : at + 4] = struct.pack("<i", int(rng.choice([0, -1, 2**31 - 1, 1])))
            case 3:
                del data[at : at + int(rng.integers(1, 40))]
            case 4:
                data[at:at] = data[at : at + int(rng.integers(1, 40))]
            case 5 if rng.random() < 0.3:
                del data[at:]
    return bytes(data)


def text_table(rng: np.random.Generator) -> bytes:
    """A table of numbers with a few things wrong, in any notation and encoding."""
    n_rows, n_columns = int(rng.integers(1, 40)), int(rng.integers(1, 8))
    rows = [[f"{v:.3f}" for v in row] for row in rng.gamma(1, 50, (n_rows, n_columns))]
    if rng.random() < 0.7:
        rows.insert(0, [f"col {k}" for k in range(n_columns)])
    if rng.random() < 0.2:
        unit, at = _UNITS[int(rng.integers(len(_UNITS)))], int(rng.integers(n_columns))
        for row in rows:
            row[at] = unit.format(row[at])
    if rng.random() < 0.1:
        # Titles above the table, as exports have them.
        titles = [["Report"], [], ["a", "b"], ["Made", *[""] * (n_columns - 1)], ["1"]]
        rows[:0] = [list(titles[int(k)]) for k in rng.integers(0, 5, int(rng.integers(1, 4)))]
    for _ in range(int(rng.choice([0, 1, 2, 4], p=[0.3, 0.4, 0.2, 0.1]))):
        row = rows[int(rng.integers(len(rows)))]
        at = int(rng.integers(n_columns))
        match rng.integers(5):
            case 0 | 1 if at < len(row):
                row[at] = str(_STRANGE_CELLS[int(rng.integers(len(_STRANGE_CELLS)))])
            case 2:
                row.append("1")
            case 3 if len(row) > 1:
                row.pop()
            case 4:
                rows.insert(int(rng.integers(len(rows))), [] if at % 2 else list(row))
    text = io.StringIO()
    quoting = csv.QUOTE_ALL if rng.random() < 0.2 else csv.QUOTE_MINIMAL
    end = ("\n", "\r\n", "\r")[int(rng.integers(3))]
    csv.writer(
        text, delimiter=",;\t| "[int(rng.integers(5))], quoting=quoting, lineterminator=end
    ).writerows(rows)
    content = text.getvalue()
    if rng.random() < 0.3:
        content = content.replace(".", ",")
    encoding = ("utf-8", "utf-8-sig", "utf-16", "cp1252")[int(rng.integers(4))]
    return content.encode(encoding, "replace")


def packed(rng: np.random.Generator, content: bytes) -> tuple[str, bytes]:
    """The ending and the bytes of a compressed file."""
    import bz2
    import gzip
    import lzma

    match rng.integers(4):
        case 0:
            return ".csv.gz", gzip.compress(content, mtime=0)
        case 1:
            return ".csv.bz2", bz2.compress(content)
        case 2:
            return ".csv.xz", lzma.compress(content)
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for k in range(1 + int(rng.random() < 0.1)):
            archive.writestr(f"t{k}.csv", content)
    return ".csv.zip", whole.getvalue()


def _array(rng: np.random.Generator) -> np.ndarray:
    shape = tuple(int(s) for s in rng.integers(0, 6, int(rng.integers(0, 4))))
    kind = rng.choice(["f8", "f4", "f2", "i4", "u1", "b1", "U3", "S2", "c16", "M8[s]", "i8"])
    return (rng.random(shape) * 9).astype(np.int64).astype(str(kind))


def npy(rng: np.random.Generator) -> bytes:
    """An array file whose header may say something else than its content."""
    out = io.BytesIO()
    array = rng.random((int(rng.integers(1, 9)), int(rng.integers(1, 6))))
    if rng.random() < 0.4:
        array = _array(rng)
    shape = list(array.shape)
    if shape and rng.random() < 0.5:
        shape[int(rng.integers(len(shape)))] = int(rng.choice(_STRANGE_SIZES))
    header = {"descr": array.dtype.str, "fortran_order": bool(rng.random() < 0.3)}
    header["shape"] = tuple(shape)
    if rng.random() < 0.1:
        header["descr"] = str(rng.choice(["|O", "<f3", "f8,f8", "V9", "<M8[ns]"]))
    text = (repr(header) + " " * 64 + "\n").encode()
    out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + array.tobytes())
    return out.getvalue()


def npz(rng: np.random.Generator) -> bytes:
    """An archive of arrays: a sparse matrix with a part changed, or a few arrays."""
    import scipy.sparse as sp

    arrays: dict[str, np.ndarray] = {}
    if rng.random() < 0.6:
        made = sp.random_array((6, 5), density=0.4, rng=rng, format=str(rng.choice(["csr", "csc"])))
        arrays = {name: getattr(made, name) for name in ("data", "indices", "indptr")}
        arrays |= {"shape": np.array(made.shape), "format": np.array(made.format.encode())}
        name = str(rng.choice(list(arrays)))
        match rng.integers(5):
            case 0 if arrays[name].dtype.kind in "iu":
                arrays[name] = arrays[name].astype(np.int64)
                arrays[name].flat[int(rng.integers(arrays[name].size))] = rng.choice(_STRANGE_SIZES)
            case 1:
                arrays[name] = _array(rng)
            case 2:
                del arrays[name]
            case 3:
                arrays[name] = arrays[name].astype("f4" if name != "format" else "S1")
    else:
        for name in rng.choice(["X", "data", "y", "names", "columns", "arr_0"], 3, replace=False):
            arrays[str(name)] = rng.random((5, 3)) if rng.random() < 0.4 else _array(rng)
    out = io.BytesIO()
    (np.savez_compressed if rng.random() < 0.5 else np.savez)(out, **arrays)
    return out.getvalue()


def matrix_market(rng: np.random.Generator) -> bytes:
    """Words of a Matrix Market file exchanged for others."""
    layout = str(rng.choice(["coordinate", "array"]))
    field = str(rng.choice(["real", "integer", "pattern", "complex"], p=[0.5, 0.3, 0.15, 0.05]))
    symmetry = str(rng.choice(["general", "symmetric", "hermitian"], p=[0.9, 0.07, 0.03]))
    lines = [f"%%MatrixMarket matrix {layout} {field} {symmetry}", "% a comment"]
    n = int(rng.integers(1, 6))
    if layout == "array":
        lines += [f"{n} {n}", *(f"{v:.3f}" for v in rng.random(n * n))]
    else:
        entries = rng.integers(1, n + 1, (n, 2)).tolist()
        lines += [f"{n} {n} {n}"]
        lines += [f"{i} {j}" + ("" if field == "pattern" else " 1.5") for i, j in entries]
    for _ in range(int(rng.choice([0, 1, 2], p=[0.4, 0.4, 0.2]))):
        at = int(rng.integers(len(lines)))
        words = lines[at].split()
        if words:
            strange = [str(size) for size in _STRANGE_SIZES] + ["1e3", "x", "", "nan", "1" * 5000]
            words[int(rng.integers(len(words)))] = str(rng.choice(strange))
            lines[at] = " ".join(words)
    return ("\n".join(lines) + "\n").encode()


def parquet(rng: np.random.Generator, path: Path) -> None:
    """A Parquet file of columns of any kind."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    n = int(rng.integers(1, 30)) if rng.random() < 0.95 else 0
    kinds: list[pa.Array] = [
        pa.array(rng.random(n)),
        pa.array(rng.integers(0, 5, n)),
        pa.array([str(_STRANGE_CELLS[i % 20]).replace("\ud800", "") for i in range(n)]),
        pa.array([None] * n, pa.float64()),
        pa.array([bool(i % 2) for i in range(n)]),
        pa.array([[1, 2]] * n),
        pa.array([{"a": 1}] * n),
        pa.array(rng.integers(0, 10**9, n), pa.timestamp("s")),
        pa.array([b"\xff\x00"] * n),
        pa.array(rng.random(n).astype(np.float16)),
        pa.array(["x"] * n).dictionary_encode(),
        pa.array([2**63] * n, pa.uint64()),
    ]
    chosen = [kinds[int(k)] for k in rng.integers(0, len(kinds), int(rng.integers(1, 6)))]
    odd = ["", "c.d", "\u202e", "x" * 300, "0"]
    names = [str(rng.choice(odd)) if rng.random() < 0.2 else str(k) for k in range(len(chosen))]
    pq.write_table(pa.Table.from_arrays(chosen, names=names), path)


def h5ad(rng: np.random.Generator, path: Path) -> None:
    """An AnnData file with parts that are missing, of another kind or of the wrong size."""
    import anndata
    import h5py
    import pandas as pd
    import scipy.sparse as sp

    sparse = rng.random() < 0.5
    made: object = sp.random_array((6, 4), density=0.5, rng=rng, format="csr")
    if not sparse:
        made = rng.random((6, 4)).astype(str(rng.choice(["f4", "i8", "f8"])))
    names = [pd.DataFrame(index=[f"n{k}" for k in range(count)]) for count in (6, 4)]
    anndata.AnnData(made, obs=names[0], var=names[1]).write_h5ad(path)
    with h5py.File(path, "r+") as file:
        if sparse and rng.random() < 0.5:
            sizes = [6, 4]
            sizes[int(rng.integers(2))] = int(rng.choice(_STRANGE_SIZES))
            file["X"].attrs["shape"] = sizes
        if rng.random() < 0.2:
            file["X"].attrs["encoding-type"] = str(rng.choice(["csc_matrix", "array", "x"]))
        places = ["X", "obs", "var", "obs/_index", "uns", "layers"]
        places += ["X/data", "X/indices", "X/indptr"] if sparse else []
        for place in places:
            if rng.random() < 0.05 and place in file:
                del file[place]
                if rng.random() < 0.5:
                    file[place] = rng.random(int(rng.integers(0, 9)))


def workbook(rng: np.random.Generator, path: Path) -> None:
    """A sheet with cells of any kind in odd places."""
    import datetime

    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["a", "b", "c"])
    for _ in range(int(rng.integers(1, 12))):
        sheet.append([float(v) for v in rng.random(3)])
    values = [None, "x", True, datetime.datetime(2024, 1, 2), -1.5, "1,5", "=1/0", 10**30]
    for _ in range(int(rng.integers(0, 4))):
        cell = sheet.cell(int(rng.integers(1, 40)), int(rng.integers(1, 9)))
        cell.value = values[int(rng.integers(len(values)))]
    book.save(path)


def signed_model(rng: np.random.Generator, content: bytes) -> bytes:
    """A model file with its header changed and signed again, so that the checksum is right."""
    header, payload = model_parts(content)
    for _ in range(int(rng.choice([1, 2, 3], p=[0.8, 0.15, 0.05]))):
        _change(rng, header)
    if rng.random() < 0.1:
        payload = flip_bytes(rng, payload)
    return signed(content, header, payload)


def model_parts(content: bytes) -> tuple[Any, bytes]:
    """Header and arrays of a model file."""
    size = int.from_bytes(content[16:24], "little")
    return json.loads(content[64 : 64 + size]), content[64 + size :]


def signed(content: bytes, header: object, payload: bytes) -> bytes:
    """A model file with the beginning of ``content`` and a checksum that is right."""
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 64)
    start = content[:16] + struct.pack("<QQ", len(text), len(payload))
    return start + sha256(start + text + payload).digest() + text + payload


def places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Every place of a tree of JSON: a dict or list, and a key of it."""
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in list(items):
        yield node, key
        if isinstance(value, dict | list):
            yield from places(value)


VALUES = (None, True, -1, 0, 10**12, 1.5, "x", "nan", [], {}, [1, 2], {"$": "array", "array": 0})


def _change(rng: np.random.Generator, header: object) -> None:
    """Change, remove or add one thing somewhere in a tree of JSON."""
    found = list(places(header))
    node, key = found[int(rng.integers(len(found)))]
    if rng.random() < 0.35:
        del node[key]
    else:
        node[key] = VALUES[int(rng.integers(len(VALUES)))]


def every_change(content: bytes) -> Iterator[bytes]:
    """The model file with each place of its header removed, and set to each of ``VALUES``."""
    for number in range(len(list(places(model_parts(content)[0])))):
        for value in (places, *VALUES):
            header, payload = model_parts(content)
            node, key = list(places(header))[number]
            if value is places:
                del node[key]
            else:
                node[key] = value
            yield signed(content, header, payload)


def hostile_name(rng: np.random.Generator) -> str:
    """Any characters but those that cannot be written down."""
    pools = ("=+-@|%\t\r\n'\"<>&;,", "abc ", "\u200d\u200c\u202e\u2066\ufeff", "\x1b\x07\x00\x9b")
    pools += ("😀é漢\U000e0001", "{{}}%s$(x)`id`")
    chars = [
        str(rng.choice(list(pools[int(rng.integers(len(pools)))])))
        for _ in range(int(rng.integers(1, 30)))
    ]
    return "".join(chars)
