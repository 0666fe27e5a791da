# SPDX-License-Identifier: MIT
"""Which sequences inputs name."""

import os

import pytest

import parafield as pf
from parafield.archives.plan import check_nesting, find_sequences


@pytest.fixture
def tree(tmp_path, monkeypatch):
    for name in ("a/x.mp4", "a/y.avi", "b/x.MKV", "b/notes.txt", ".hidden/z.mp4", "seq/f2.png", "seq/f10.png",
                 "seq/f1.png", "deep/one/frame0001.jpg", "deep/one/frame0002.jpg", "deep/two/frame0001.jpg",
                 "deep/two/frame0002.jpg", "mixed/poster.png", "mixed/v.mp4", "name[1].mp4"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"0" * len(name))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(*inputs):
    return sorted(sequence.name for sequence in find_sequences(list(map(str, inputs))))


def files(*inputs):
    return [os.path.basename(path) for path in find_sequences(list(inputs))[0].files]


def test_videos_and_folders(tree):
    assert names("a/x.mp4", "a/y.avi") == ["x", "y"]
    assert names("a") == ["x", "y"]
    assert names(tree) == ["a/x", "a/y", "b/x", "deep/one", "deep/two", "mixed/v", "name[1]", "seq"]
    assert find_sequences(["a/x.mp4"])[0].source == str(tree / "a/x.mp4")


def test_a_folder_of_images_is_one_sequence_in_natural_order(tree):
    assert names("seq") == ["seq"] and files("seq") == ["f1.png", "f2.png", "f10.png"]
    assert names("deep/one/") == ["one"]


def test_images_by_name_are_one_sequence_a_folder(tree):
    assert names("seq/f10.png", "seq/f2.png") == ["seq"]
    assert files("seq/f10.png", "seq/f2.png") == ["f2.png", "f10.png"]


def test_globs(tree):
    assert names("*/*.mp4") == ["a/x", "mixed/v"]
    assert names("a/*") == ["x", "y"]
    assert names("**/*.mp4") == ["a/x", "mixed/v", "name[1]"]
    assert names("deep/*") == ["one", "two"] == names("deep/*/")
    assert names("name[1].mp4") == ["name[1]"]  # a file of this name comes first


def test_patterns(tree):
    assert names("deep/one/frame%04d.jpg") == ["one"]
    assert names("deep/*/frame%04d.jpg") == ["one", "two"]


def test_links_in_a_circle_end(tree):
    os.symlink(tree, tree / "a/up")
    assert names("a").count("x") == 1


@pytest.mark.parametrize(("inputs", "words"), [
    ([], "inputs: there are none"),
    (["none.mp4"], "none.mp4: there is no such file"),
    (["a/*.mov"], "matches no video"),
    (["b/notes*"], "matches no video"),
    (["seq/g%d.png"], "no file of this pattern"),
    (["seq/f%d.png"], "number 3 is missing"),
    (["seq/f%d%d.png"], "a pattern has one number"),
    (["a/x.mp4", "b/x.MKV"], "both be written as x"),
    (["a/x.mp4", "a/x.mp4"], "named twice"),
    (["empty"], "no videos and no images"),
])
def test_errors(tree, inputs, words):
    (tree / "empty").mkdir()
    with pytest.raises(pf.Error, match=words):
        find_sequences(inputs)


def test_results_inside_results(tree):
    (tree / "seq/masks").mkdir()
    (tree / "seq/masks/m.png").write_bytes(b"0")
    with pytest.raises(pf.Error, match="seq/masks.* would lie inside seq"):
        check_nesting(find_sequences(["../" + tree.name]))
