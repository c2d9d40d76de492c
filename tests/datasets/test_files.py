import gzip
import io
import tarfile
import zipfile

import numpy as np
import pytest

from fnmf.datasets._files import DataFileError, read_npz, read_original, write_npz


def zip_of(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    return path


def tar_bytes(members, link=None):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as packed:
        if link:
            info = tarfile.TarInfo(link)
            info.type = tarfile.SYMTYPE
            info.linkname = "/etc/passwd"
            packed.addfile(info)
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            packed.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def test_a_member_is_read_from_zip_tar_gzip_or_the_file_itself(tmp_path):
    plain = tmp_path / "table"
    plain.write_bytes(b"1 2 3")
    zipped = zip_of(tmp_path / "a.zip", {"folder/table": b"1 2 3", "other": b"x"})
    nested = zip_of(tmp_path / "b.zip", {"all.tar": tar_bytes({"deep/table": b"1 2 3"})})
    tarred = tmp_path / "c.tar"
    tarred.write_bytes(tar_bytes({"table": b"1 2 3"}))
    zipped_alone = tmp_path / "table.gz"
    zipped_alone.write_bytes(gzip.compress(b"1 2 3"))
    for path in (plain, zipped, nested, tarred, zipped_alone):
        assert read_original(path, "table") == b"1 2 3"
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "a.zip", "b.zip", "c.tar", "table", "table.gz",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["../outside", "/etc/outside", "a/../../outside", "..\\outside"])
def test_an_archive_with_a_name_pointing_outside_is_refused(tmp_path, name):
    path = zip_of(tmp_path / "a.zip", {name: b"evil", "table": b"1"})
    with pytest.raises(DataFileError, match="points outside"):
        read_original(path, "table")
    tarred = tmp_path / "a.tar"
    tarred.write_bytes(tar_bytes({name: b"evil", "table": b"1"}))
    with pytest.raises(DataFileError, match="points outside"):
        read_original(tarred, "table")
    assert not (tmp_path.parent / "outside").exists()


def test_an_archive_with_a_link_is_refused(tmp_path):
    tarred = tmp_path / "a.tar"
    tarred.write_bytes(tar_bytes({"table": b"1"}, link="table"))
    with pytest.raises(DataFileError, match="link"):
        read_original(tarred, "table")
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as packed:
        info = zipfile.ZipInfo("table")
        info.external_attr = 0o120777 << 16
        packed.writestr(info, "/etc/passwd")
    with pytest.raises(DataFileError, match="link"):
        read_original(path, "table")


def test_a_bomb_is_stopped_at_the_limit(tmp_path):
    bomb = bytes(200_000)
    zipped = zip_of(tmp_path / "a.zip", {"table": bomb})
    gzipped = tmp_path / "table.gz"
    gzipped.write_bytes(gzip.compress(bomb))
    nested = zip_of(tmp_path / "b.zip", {"x.tar": tar_bytes({"table": bomb})})
    for path in (zipped, gzipped, nested):
        with pytest.raises(DataFileError, match="more than 100000 bytes"):
            read_original(path, "table", limit=100_000)
    npz = tmp_path / "a.npz"
    np.savez_compressed(npz, X=np.zeros(100_000))
    with pytest.raises(DataFileError, match="more than"):
        read_npz(npz, limit=100_000)


def test_a_missing_member_and_a_damaged_archive_are_told(tmp_path):
    path = zip_of(tmp_path / "a.zip", {"other": b"1"})
    with pytest.raises(DataFileError, match="no member 'table'"):
        read_original(path, "table")
    path.write_bytes(path.read_bytes()[:30])
    with pytest.raises(DataFileError, match="damaged"):
        read_original(path, "table")


def test_pickled_objects_are_never_loaded(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.array([{}], dtype=object))
    with pytest.raises(DataFileError, match="allow_pickle"):
        read_npz(tmp_path / "a.npz")


def test_stored_arrays_come_back_and_leave_no_partial_file(tmp_path):
    arrays = {"X": np.arange(6.0).reshape(2, 3), "y": np.array([0, 1])}
    write_npz(tmp_path / "deep" / "a.npz", arrays)
    back = read_npz(tmp_path / "deep" / "a.npz")
    np.testing.assert_array_equal(back["X"], arrays["X"])
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["a.npz"]
