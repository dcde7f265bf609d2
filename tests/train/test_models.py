"""Models: what one item gives does not depend on its neighbours, heads are alike, and a folder gives the model back."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch

import sfumato as sf
from sfumato.errors import InputError, OptionError
from sfumato.train import MODELS, Predictor, fit, join
from sfumato.train.learner import prepare
from sfumato.train.models.words import glove_vectors

RNG = np.random.default_rng(3)
WORDS = ["rain", "sun", "snow", "a", "thunderstorm", "ß", "café", "http://t.co/x"]


def example(kind, row):
    text = partial(RNG.choice, WORDS)
    if kind == "tokens":
        size = int(RNG.integers(1, 9))
        return {"tokens": [str(word) for word in text(size)], "item": list(range(10 * row, 10 * row + size))}
    if kind == "image":
        return {"image": RNG.integers(0, 256, (32, 32, 3), dtype=np.uint8), "item": 10 * row}
    if kind == "features":
        return {"features": RNG.normal(size=5).astype(np.float32), "item": 10 * row}
    made = {"text": " ".join(text(int(RNG.integers(1, 12)))), "item": 10 * row}
    return {**made, "text_pair": str(text())} if kind == "text pair" else made


def dataset(kind, n=9):
    items = [f"i{row}" for row in range(10 * n)]
    soft = sf.SoftLabels(RNG.dirichlet(np.ones(3), 10 * n), items=items, classes=("x", "y", "z"))
    gold = sf.Gold(tuple(items), RNG.integers(0, 3, 10 * n).astype(np.int32), ("x", "y", "z"))
    examples = [example(kind, row) for row in range(n)]
    splits = {"train": range(n - 2), "test": range(n - 2, n)}
    return join(examples, items=items, splits=splits, needs=["soft", "gold"], soft=soft, gold=gold)


def cases():
    for name, architecture in MODELS.items():
        for kind in sorted(architecture.kinds):
            yield pytest.param(name, kind, id=f"{name}, {kind}")


@pytest.fixture
def options(request):
    """Give options that make a model small."""

    def of(name):
        if name == "encoder":
            return {"pretrained": request.getfixturevalue("minilm"), "max_length": 16}
        return {"pos_tagger": {"hidden": 6, "word_width": 5, "character_width": 4}, "mlp": {"hidden": [4]}}.get(
            name, {}
        )

    return of


@pytest.mark.parametrize(("name", "kind"), list(cases()))
def test_one_item_gives_the_same_alone_and_among_others(settings, options, name, kind):
    changes = {"model": {"name": name, "options": options(name)}, "loss": {"name": "gold_plus_soft"}}
    data = dataset(kind)
    learning = prepare(data, settings(changes))
    model = learning.learner.model.eval()
    with torch.no_grad():
        together = learning.collate(data.examples)
        outputs = model(together)
        assert len(outputs.logits) == 2
        assert outputs.embedding.shape[-1] == model.width
        assert together["mask"].shape == together["item"].shape == outputs.logits[0].shape[:-1]
        by_row = dict(
            zip(together["item"][together["mask"]].tolist(), outputs.logits[0][together["mask"]], strict=True)
        )
        for one in data.examples:
            batch = learning.collate([one])
            alone = model(batch).logits[0][batch["mask"]]
            wanted = torch.stack([by_row[row] for row in np.atleast_1d(one["item"]).tolist()])
            torch.testing.assert_close(alone, wanted, atol=2e-5, rtol=2e-5)
    first, second = ([p.shape for p in head.parameters()] for head in model.heads.heads)
    assert first == second


@pytest.mark.parametrize(
    # Networks for images are built alike; the smallest one stands for all.
    ("name", "kind"), [case for case in cases() if case.values[1] != "image" or case.values[0] == "resnet8"]
)  # fmt: skip
def test_a_folder_gives_the_model_back(settings, options, tmp_path, name, kind):
    data = dataset(kind)
    config = settings({"model": {"name": name, "options": options(name)}, "loop": {"epochs": 1}})
    run = fit(data, config, out=tmp_path / "run")
    again = Predictor.load(tmp_path / "run")
    said = again.predict([data.examples[number] for number in data.splits["test"]], data.items)
    assert said.items == run.predictions["test"].items
    np.testing.assert_allclose(said.logits, run.predictions["test"].logits, atol=1e-5)
    stored = sf.Predictions.load(tmp_path / "run" / "predictions.parquet")
    assert stored == run.predictions["test"]
    new = again.predict([example(kind, 0)], data.items)
    assert 1 <= new.n_items <= 9


def test_sizes_are_those_of_the_papers(settings):
    data = dataset("image", n=3)
    layers = {}
    for name in ("resnet8", "resnet20", "resnet34a", "resnet50", "vgg11"):
        model = prepare(data, settings({"model": {"name": name, "options": {}}})).learner.model
        kinds = (torch.nn.Conv2d, torch.nn.Linear)
        layers[name] = sum(isinstance(module, kinds) for module in model.modules())
    # The 1×1 convolutions of the four projections of ResNet-50 are not counted as layers.
    assert layers == {"resnet8": 8, "resnet20": 20, "resnet34a": 44, "resnet50": 50 + 4, "vgg11": 9}


def test_a_long_sequence_is_read_in_pieces_and_no_token_is_lost(settings, minilm):
    data = dataset("tokens")
    long = {"tokens": ["thunderstorms", "in", "Patagonia"] * 20, "item": list(range(60))}
    examples = [long, *data.examples[6:]]
    data = type(data)(**{**vars(data), "examples": examples, "splits": {**data.splits, "train": np.array([0])}})
    changes = {"model": {"name": "encoder", "options": {"pretrained": minilm, "max_length": 12}}}
    batch = prepare(data, settings(changes)).collate([long])
    assert batch["codes"].shape[1] <= 12
    assert batch["item"][batch["mask"]].tolist() == list(range(60))


def test_the_label_lies_on_the_first_sub_word(settings, minilm):
    from transformers import AutoTokenizer

    data = dataset("tokens")
    tokens = ["Patagonian", "thunderstorms", "!", "café"]
    changes = {"model": {"name": "encoder", "options": {"pretrained": minilm}}}
    learning = prepare(data, settings(changes))
    batch = learning.collate([{"tokens": tokens, "item": [0, 1, 2, 3]}])
    theirs = AutoTokenizer.from_pretrained(minilm)(tokens, is_split_into_words=True)
    assert batch["codes"][0].tolist() == theirs["input_ids"]
    words = theirs.word_ids()
    assert batch["first"][0].tolist() == [words.index(word) for word in range(4)]
    assert len(theirs["input_ids"]) > len(tokens) + 2


@pytest.mark.parametrize("kind", ["text", "text pair"])
def test_texts_are_encoded_as_their_tokenizer_does(settings, minilm, kind):
    from transformers import AutoTokenizer

    data = dataset(kind)
    learning = prepare(
        data, settings({"model": {"name": "encoder", "options": {"pretrained": minilm, "max_length": 10}}})
    )
    batch = learning.collate(data.examples)
    pairs = [example.get("text_pair") for example in data.examples]
    theirs = AutoTokenizer.from_pretrained(minilm)(
        [example["text"] for example in data.examples], pairs if kind == "text pair" else None,
        truncation=True, max_length=10, padding=True, return_tensors="pt",
    )  # fmt: skip
    for ours, name in (("codes", "input_ids"), ("seen", "attention_mask"), ("types", "token_type_ids")):
        assert torch.equal(batch[ours], theirs[name])


def test_word_vectors_are_those_of_the_file(settings, tmp_path):
    (tmp_path / "v.txt").write_text("rain 1 2 3\nhail 4 5 6\n")
    data = dataset("tokens")
    changes = {"model": {"name": "pos_tagger", "options": {"glove": str(tmp_path / "v.txt"), "word_width": 3}}}
    model = prepare(data, settings(changes)).learner.model
    words = prepare(data, settings(changes)).settings["words"]
    for word, vector in (("rain", [1.0, 2.0, 3.0]), ("hail", [4.0, 5.0, 6.0])):
        assert model.words.weight[words.index(word) + 2].tolist() == vector
    with pytest.raises(InputError, match=r"line 1: a word and 100 numbers"):
        prepare(data, settings({"model": {"name": "pos_tagger", "options": {"glove": str(tmp_path / "v.txt")}}}))
    with pytest.raises(InputError, match="There is no file"):
        glove_vectors(str(tmp_path / "none.txt"), [], 3)


def test_augmentation_moves_and_mirrors_and_only_while_training(settings):
    data = dataset("image", n=3)
    model = prepare(data, settings({"model": {"name": "resnet8", "options": {"augment": True}}})).learner.model
    images = torch.rand(64, 3, 32, 32)
    pixels = model.pixels
    pixels.mean.zero_()
    pixels.deviation.fill_(1)
    assert torch.equal(pixels.eval()(images), images)
    torch.manual_seed(0)
    moved = pixels.train()(images)
    wide = torch.nn.functional.pad(images, [4] * 4)
    kinds = set()
    for number in range(64):
        found = [
            (row, column, mirrored)
            for mirrored in (False, True)
            for row in range(9)
            for column in range(9)
            if torch.equal(
                moved[number],
                wide[number, :, row : row + 32, column : column + 32].flip(-1)
                if mirrored
                else wide[number, :, row : row + 32, column : column + 32],
            )
        ]
        assert len(found) == 1
        kinds.update(found)
    assert {mirrored for *_, mirrored in kinds} == {True, False}
    assert {row for row, *_ in kinds} > {0, 4, 8}


def test_what_cannot_be_is_refused(settings):
    data = dataset("text")
    for changes, words in (
        ({"name": "mlp", "options": {}}, "cannot see items that are texts. Choose one of encoder"),
        ({"name": "encodr", "options": {}}, "'model.name' must be one of"),
        ({"name": "encoder", "options": {"maxlength": 3}}, "Is it max_length"),
        ({"name": "encoder", "options": {"max_length": "long"}}, "must be a whole number"),
    ):
        with pytest.raises(OptionError, match=words):
            prepare(data, settings({"model": changes}))
    with pytest.raises(InputError, match="There is no encoder '/nowhere/at/all'"):
        prepare(data, settings({"model": {"name": "encoder", "options": {"pretrained": "/nowhere/at/all"}}}))
