"""Functions for single texts."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path
from typing import Any, List, Set, Tuple

import pytest

import cento


def test_offsets_of_words_are_those_of_python_strings() -> None:
    text = "Ünïcöde 😀 naïve ﬁne 東京都"
    found = cento.words(text)
    assert [text[word.begin : word.end] for word in found][:3] == ["Ünïcöde", "naïve", "ﬁne"]
    assert found[2].normal == "fine"
    assert cento.words("") == []


@pytest.mark.parametrize("scheme", ["kgram:k=3", "mod:k=3,p=2", "winnow:k=3,w=2", "break", "dct"])
def test_fingerprints_of_a_shared_passage_agree(scheme: str) -> None:
    shared = "the quick brown fox jumps over the lazy dog and runs away into the deep dark forest"
    a, b = f"é {shared}", f"Something else first: {shared}"
    ours, theirs = cento.fingerprints(a, scheme), cento.fingerprints(b, scheme)
    common = {one.hash for one in ours} & {one.hash for one in theirs}
    assert common
    for one in ours:
        assert a[one.begin : one.end].strip() == a[one.begin : one.end] != ""
    text = {one.hash: a[one.begin : one.end] for one in ours}
    assert all(text[one.hash] == b[one.begin : one.end] for one in theirs if one.hash in common)


def test_an_unknown_scheme_is_refused_with_the_alternatives() -> None:
    with pytest.raises(ValueError, match="winnow"):
        cento.fingerprints("a text", scheme="magic")


def test_sketches_estimate_and_can_be_stored() -> None:
    words = [f"word{number}" for number in range(400)]
    a, b = cento.Sketch(" ".join(words)), cento.Sketch(" ".join(words[:300]))
    estimate = a.resemblance(b)
    assert estimate.value is not None and estimate.low < 0.75 < estimate.high
    assert b.containment(a).value == 1.0
    assert cento.Sketch.from_minima(a.minima) == a == pickle.loads(pickle.dumps(a))
    assert a.union(b) == b.union(a) and hash(a.union(b)) == hash(b.union(a))
    assert a.union(a) == a != b
    with pytest.raises(ValueError):
        a.resemblance(cento.Sketch("other parameters", k=3))
    with pytest.raises(ValueError):
        cento.Sketch("…")
    for confidence in [0, 1, -1, 2, float("nan")]:
        with pytest.raises(cento.UsageError, match="confidence"):
            a.resemblance(b, confidence=confidence)


@pytest.mark.parametrize("count", [3, 5, 8, 40])
def test_a_sketch_is_of_the_grams_that_copies_compares(count: int) -> None:
    words = [f"word{number}" for number in range(count)]

    def grams(words: List[str]) -> Set[Tuple[str, ...]]:
        if len(words) < 5:
            return {tuple(words)}
        return {tuple(words[at : at + 5]) for at in range(len(words) - 4)}

    other = [*words[:-1], "another"]
    both, either = grams(words) & grams(other), grams(words) | grams(other)
    estimate = cento.Sketch(" ".join(words)).resemblance(cento.Sketch(" ".join(other)))
    assert estimate.low <= len(both) / len(either) <= estimate.high


def test_lone_surrogates_are_replaced_and_places_stay() -> None:
    text = "one \ud800 two \udc00 three"
    assert [text[word.begin : word.end] for word in cento.words(text)] == ["one", "two", "three"]
    assert cento.text_of_html(f"<p>{text}") == "one \ufffd two \ufffd three"


@pytest.mark.parametrize("number", [-1, 0, 1 << 32])
def test_a_number_out_of_range_is_a_usage_error(number: int) -> None:
    for call in [
        lambda: cento.passages("a", "b", min_chars=number),
        lambda: cento.Sketch("a text", k=number),
        lambda: cento.Sketch("a text", minima=number),
        lambda: cento.Sketch.from_minima([1, 2], k=number),
    ]:
        with pytest.raises(cento.UsageError, match="from 1 to"):
            call()


def test_passages_are_those_of_the_program(command: Any, tmp_path: Path) -> None:
    verse = "Arms and the man I sing, who first from the coasts of Troy, exiled by fate. " * 4
    a, b = f"Ä {verse} End.", f"Begin. {verse}"
    (tmp_path / "a.txt").write_text(a)
    (tmp_path / "b.txt").write_text(b)
    found = cento.passages(a, b)
    printed = command("passages", "a.txt", "b.txt", "--json").stdout.splitlines()
    expected = [json.loads(line) for line in printed]
    assert len(found) == len(expected) == 1
    for ours, theirs in zip(found, expected):
        assert (ours.a_begin, ours.a_end) == (theirs["a_begin_char"], theirs["a_end_char"])
        assert (ours.b_begin, ours.b_end) == (theirs["b_begin_char"], theirs["b_end_char"])
        assert (ours.kind, ours.words) == (theirs["kind"], theirs["words"])
        assert ours.identical == pytest.approx(theirs["identical"])
        assert a[ours.a_begin : ours.a_end] == b[ours.b_begin : ours.b_end]


def test_html_is_extracted_as_in_a_corpus(tmp_path: Path) -> None:
    html = "<html><body><h1>Title</h1><p>One <b>two</b> three &amp; four.<script>x</script></body>"
    (tmp_path / "a.html").write_text(html)
    corpus = cento.Corpus.index(tmp_path / "a.html", tmp_path / "a.cento", progress=False)
    [row] = corpus.tables["text"].head()
    assert cento.text_of_html(html, corpus.parameters["content"]) == row["text"]


def test_a_detector_agrees_with_detect(corpus: cento.Corpus, labels: Path) -> None:
    found = corpus.detect(labels=labels, progress=False)
    texts = {row["page_id"]: row["text"] for row in corpus.tables["text"].head(10**6)}
    detector = cento.Detector(labels)
    assert len(detector) == 50 and pickle.loads(pickle.dumps(detector)).labels == str(labels)
    pages = {row["page_id"]: row for row in found["pages"].head(10**6)}
    assert pages
    for page_id, text in texts.items():
        verdict = detector.check(text)
        assert len(verdict.found) == verdict.matched
        if page_id in pages:
            assert verdict.matched == pages[page_id]["matched"]
            assert verdict.contains == pytest.approx(pages[page_id]["contains"])
        else:
            assert verdict.matched == 0


def test_a_detector_is_not_affected_by_its_file_or_the_folder_of_the_process(
    labels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(labels, tmp_path / "some.labels")
    monkeypatch.chdir(tmp_path)
    detector, mapped = cento.Detector("some.labels"), cento.Detector("some.labels", mapped=True)
    pickled = pickle.dumps((detector, mapped))
    monkeypatch.chdir("/")
    assert [(one.mapped, len(one)) for one in pickle.loads(pickled)] == [(False, 50), (True, 50)]
    text = "A paragraph of words.\n\nAnother."
    before = detector.check(text)
    (tmp_path / "some.labels").write_bytes(b"")
    assert detector.check(text) == before


def test_labels_of_files_are_refused(corpus: cento.Corpus, tmp_path: Path) -> None:
    output = tmp_path / "files.labels"
    corpus.discover(output=output, unit="files", most_frequent=5, progress=False)
    with pytest.raises(ValueError, match="files"):
        cento.Detector(output)
