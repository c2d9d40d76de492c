"""Files and folders appear whole or not at all."""

import pytest

from fnmf._atomic import atomic_file, atomic_folder


def test_a_file_appears_at_the_end(tmp_path):
    path = tmp_path / "a.txt"
    with atomic_file(path) as file:
        file.write(b"new")
        assert not path.exists()
    assert path.read_bytes() == b"new"


def fail_within(context, error):
    with context as place:
        if hasattr(place, "write"):
            place.write(b"new")
        else:
            (place / "x").write_text("half")
        raise error


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_failure_leaves_what_was_there(tmp_path, error):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    for context in (atomic_file(path), atomic_folder(tmp_path / "deep" / "down")):
        with pytest.raises(error):
            fail_within(context, error)
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_a_full_folder_is_never_replaced(tmp_path):
    folder = tmp_path / "f"
    with atomic_folder(folder) as partial:
        (partial / "one").touch()
    with pytest.raises(OSError, match=r"not empty|exists"), atomic_folder(folder) as partial:
        (partial / "two").touch()
    assert [p.name for p in folder.iterdir()] == ["one"]
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_what_a_killed_process_left_is_cleared_and_what_is_in_use_is_not(tmp_path):
    left, other = tmp_path / ".f.0123456789ab.partial", tmp_path / ".f.notes.partial"
    for folder in (left, other):
        folder.mkdir()
        (folder / "half").touch()
    with atomic_folder(tmp_path / "f") as first:
        assert not left.exists()
        assert other.exists()
        with atomic_folder(tmp_path / "f") as second:
            assert first.exists()
        assert not second.exists()
        assert first.exists()
    assert (tmp_path / "f").exists()


def test_new_files_follow_the_umask(tmp_path):
    with atomic_file(tmp_path / "a") as file:
        file.write(b"x")
    (tmp_path / "b").write_bytes(b"x")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode
