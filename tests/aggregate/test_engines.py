"""Engines give the same result: the same bits for any number of threads and for files, 1e-12 for Ray."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato.aggregate import blocks, em, memory
from sfumato.aggregate.dawid_skene import _DawidSkene, dawid_skene
from sfumato.aggregate.engines import open_engine, threads
from sfumato.aggregate.engines.chunk import n_chunks
from sfumato.aggregate.ibcc import ibcc
from sfumato.aggregate.mace import mace
from sfumato.aggregate.one_coin import one_coin
from sfumato.aggregate.result import Result
from sfumato.aggregate.tables import DiagonalTable, FullTable
from sfumato.errors import MissingExtraError, OptionError, TooLargeError

METHODS: list[Callable[..., Result]] = [dawid_skene, ibcc, one_coin, mace]


@pytest.fixture(autouse=True)
def _as_if_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small blocks and threads in any case, so that small data is treated as large data is."""
    monkeypatch.setattr(blocks, "_MOST_ITEMS", 16)
    monkeypatch.setattr(threads, "WORTH_THREADS", 0)


def _votes(*, soft: bool = False, n_items: int = 600) -> sf.Annotations:
    return sf.data.simulate(n_items=n_items, n_annotators=4, n_classes=3, per_item=3, soft=soft, seed=5).annotations


def _same(one: Result, other: Result, tolerance: float = 0.0) -> None:
    close = {"rtol": tolerance, "atol": tolerance}
    np.testing.assert_allclose(one.soft_labels.probs, other.soft_labels.probs, **close)
    np.testing.assert_allclose(one.annotators.confusion, other.annotators.confusion, **close)
    np.testing.assert_allclose(one.trace, other.trace, **close)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("soft", [False, True])
def test_any_number_of_threads_gives_the_same_bits(method: Callable[..., Result], soft: bool) -> None:
    votes = _votes(soft=soft)
    with open_engine(votes) as engine:
        assert n_chunks(engine.matrix) > 8
    _same(method(votes, threads=1), method(votes, threads=3))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("soft", [False, True])
def test_shuffled_rows_give_the_same_bits(method: Callable[..., Result], soft: bool) -> None:
    votes = _votes(soft=soft)
    rng = np.random.default_rng(0)
    items, people = rng.permutation(votes.n_items), rng.permutation(votes.n_annotators)
    shuffled = sf.Annotations.from_codes(
        np.argsort(items)[votes.item], np.argsort(people)[votes.annotator], votes.label,
        weight=votes.weight if soft else None, items=[votes.items[i] for i in items],
        annotators=[votes.annotators[j] for j in people], classes=votes.classes,
    )  # fmt: skip
    one, other = method(votes), method(shuffled)
    np.testing.assert_array_equal(one.soft_labels.probs[items], other.soft_labels.probs)
    np.testing.assert_array_equal(one.annotators.competence[people], other.annotators.competence)  # type: ignore[index]
    assert one.trace == other.trace
    assert one.soft_labels.origin == other.soft_labels.origin


@pytest.mark.parametrize("method", METHODS)
def test_files_give_the_same_bits_and_leave_nothing(
    method: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    votes = _votes(soft=True)
    seen: list[int] = []
    result = method(votes, engine="files", progress=lambda told: seen.append(len(list(tmp_path.glob("*/*.npy")))))
    assert set(seen) == {2}
    assert list(tmp_path.iterdir()) == []
    _same(result, method(votes))


def test_files_take_annotations_whose_arrays_are_mapped_files(tmp_path: Path) -> None:
    votes = _votes(soft=True)
    mapped = {}
    for name in ("item", "annotator", "label", "weight", "starts"):
        np.save(tmp_path / f"{name}.npy", getattr(votes, name))
        mapped[name] = np.load(tmp_path / f"{name}.npy", mmap_mode="r")
    on_disk = sf.Annotations(items=votes.items, annotators=votes.annotators, classes=votes.classes, **mapped)
    assert isinstance(on_disk.label, np.memmap)
    _same(dawid_skene(on_disk, engine="files"), dawid_skene(votes))


@pytest.mark.parametrize("engine", ["threads", "files"])
def test_items_that_nobody_judged_and_votes_of_nobody(engine: str) -> None:
    votes = _votes()
    none = votes.take_annotations(np.zeros(votes.n_annotations, dtype=np.bool_))
    for method in METHODS:
        result = method(none, engine=engine)
        np.testing.assert_allclose(result.soft_labels.probs, 1 / 3, rtol=1e-12)
    result = dawid_skene(none, prior="ml", engine=engine)
    np.testing.assert_allclose(result.soft_labels.probs, 1 / 3, rtol=1e-12)


def test_one_engine_takes_tables_of_different_widths_and_hands_out_its_own_counts() -> None:
    with open_engine(_votes(n_items=40), threads=1) as engine:
        narrow, wide = DiagonalTable(np.zeros(12), np.zeros(3)), FullTable(np.zeros((12, 5)), np.zeros(5))
        first = engine.expect(narrow)
        assert first.counts.sum() == pytest.approx(120 / 3)
        assert engine.expect(wide).counts.sum() == pytest.approx(120)
        np.testing.assert_allclose(engine.posterior(wide), 1 / 5)
        assert first.counts.sum() == pytest.approx(120 / 3)
        np.testing.assert_array_equal(engine.expect(narrow).counts, first.counts)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"engine": "spark"}, "'engine' must be one of threads, files, ray. Got 'spark'"),
        ({"threads": 0}, "'threads' must be at least 1. Got 0"),
        ({"dtype": "float16"}, "'dtype' must be one of float64, float32. Got 'float16'"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        dawid_skene(_votes(n_items=5), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", METHODS)
def test_float32_gives_the_same_to_its_precision(method: Callable[..., Result]) -> None:
    votes = _votes()
    single, double = method(votes, dtype="float32", max_iter=400), method(votes, max_iter=400)
    assert single.soft_labels.probs.dtype == np.float32
    np.testing.assert_allclose(single.soft_labels.probs, double.soft_labels.probs, atol=0.01)
    assert single.soft_labels.top() == double.soft_labels.top()


def test_soft_labels_that_do_not_fit_are_refused_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 1000)
    with pytest.raises(TooLargeError, match=r"^A soft label over 3 classes for each of 600 items needs 1\.34e-05 GiB"):
        mace(_votes())


def test_ray_that_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r'The ray engine needs the extra "cluster"'):
        dawid_skene(_votes(n_items=5), engine="ray")


@pytest.fixture(scope="module")
def ray() -> object:
    """A real Ray on this machine, where it is installed."""
    ray = pytest.importorskip("ray", reason='the extra "cluster" is not installed')
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("method", METHODS)
def test_ray_is_equal_to_threads(ray: object, method: Callable[..., Result]) -> None:
    votes = _votes(soft=True)
    _same(method(votes, engine="ray", threads=2), method(votes), tolerance=1e-12)


@pytest.mark.filterwarnings("default")
def test_ray_replaces_a_lost_actor_and_repeats_the_iteration(ray: object) -> None:
    votes, killed = _votes(), []
    model = _DawidSkene("pooled", 8.0, "shares")
    with open_engine(votes, engine="ray", threads=2) as engine:

        def kill(told: em.Iteration) -> None:
            if told.step in (2, 4):
                ray.kill(engine._actors[told.step // 4])  # type: ignore[attr-defined]
                killed.append(told.step)

        found = em.fit(model, engine, progress=kill)
        probs = engine.posterior(found.table)
    assert killed == [2, 4]
    np.testing.assert_allclose(probs, dawid_skene(votes).soft_labels.probs, rtol=1e-12, atol=1e-12)
