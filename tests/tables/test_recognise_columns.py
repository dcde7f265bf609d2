from __future__ import annotations

import pytest

from sfumato.errors import InputError, OptionError
from sfumato.tables.recognise_columns import Columns, recognise_columns


def found(header: str, **options: object) -> tuple[object, ...]:
    """Return the shape and the names of the columns of a header of words."""
    names = header.split()
    columns = recognise_columns(names, **options)  # type: ignore[arg-type]
    places = [columns.item, columns.annotator, columns.label, columns.weight]
    return (columns.shape, *(names[place] for place in (*places, *columns.many) if place >= 0))


@pytest.mark.parametrize(
    "header",
    [
        "item annotator label", "Item Annotator Label", "item_id annotator_id label", "task worker label",
        "task performer label", "question user response", "example rater answer", "id user_id class",
        "instance_id username category", "unit judge judgement", "document coder judgment", "doc_id workerid rating",
        "image worker_id value", "sentence_id annotator vote", "orig_id !amt_worker_ids response",
        "HITId WorkerId label",
        "tasks workers labels", "Item-ID Rater-ID Label", "img_id labeller choice", "text annotator label",
    ],
)  # fmt: skip
def test_the_usual_names(header: str) -> None:
    assert found(header) == ("long", *header.split())


@pytest.mark.parametrize(
    ("header", "wanted"),
    [
        ("label item annotator", "item annotator label"),
        ("id item annotator label seconds", "item annotator label"),  # our own name before any other
        ("question question_id worker label", "question_id worker label"),  # the id before the text
        ("id text worker label", "id worker label"),  # a text only where nothing else names the item
        ("item annotator label rating", "item annotator label"),
        ("item user annotator label", "item annotator label"),
        ("!amt_annotation_ids !amt_worker_ids orig_id response gold", "orig_id !amt_worker_ids response"),
        ("item annotator label_id label", "item annotator label"),  # the name that people mean, not its number
        ("item annotator category category_id", "item annotator category"),
        ("item annotator label weight", "item annotator label weight"),
        ("item annotator label probability confidence", "item annotator label"),
    ],
)
def test_the_clearest_of_several_names(header: str, wanted: str) -> None:
    assert found(header) == ("long", *wanted.split())


def test_named_columns() -> None:
    assert found("a b c d", item="b", annotator="c", label="d") == ("long", "b", "c", "d")
    assert found("a b c d", item="b", annotator="c", label="d", weight="a") == ("long", "b", "c", "d", "a")
    assert found("id task worker label", item="task") == ("long", "task", "worker", "label")
    assert found("Task worker label", item="task") == ("long", "Task", "worker", "label")
    assert found("label rater worker", item="label", annotator="rater", label="worker")[1:] == (
        "label",
        "rater",
        "worker",
    )


@pytest.mark.parametrize(
    ("header", "options", "message"),
    [
        ("itm annotator label", {}, r"the item; it has 'itm', 'annotator', 'label' \(is it 'itm'\?\).*item=….*--item"),
        ("item annotator lable", {}, r"holds the label.*\(is it 'lable'\?\)"),
        ("item label", {}, "holds the annotator; it has 'item', 'label'. Name it with annotator=…"),
        ("item lable", {}, "holds the annotator"),
        ("id task worker label", {}, "several columns that may hold the item: 'id', 'task'"),
        ("item a b", {"item": "itme"}, "no column 'itme', which was named as the item; it has .* Did you mean 'item'?"),
        ("item a b", {"item": "zzz"}, "no column 'zzz', which was named as the item; it has .* Name one"),
        ("item annotator label", {"item": "label"}, "three different columns"),
        ("item worker label", {"annotator": "item", "item": "item"}, "three different columns"),
        ("item item annotator label", {}, "the column 'item' stands more than once"),
        ("item", {}, "only one column"),
        ("item ann bob", {"label": "x"}, "no column 'x'"),
        ("item ann bob", {"label": "bob"}, "holds the annotator"),
        ("item ann bob", {"shape": "wide", "label": "bob"}, "taken for a wide table.*label='bob'"),
        ("item ann bob", {"annotator": []}, "holds the annotator"),
        ("item ann bob", {"annotator": ["item"], "item": "item"}, "holds the annotator"),
        ("item annotator cat dog", {"shape": "long"}, "holds the label"),
        ("item annotator cat dog", {"shape": "soft", "classes": ["cat", "cow"]}, "'cow', which was named as the class"),
        ("item annotator", {"shape": "soft"}, "holds the label"),
        (" ".join(f"c{n}" for n in range(30)), {"item": "zzz"}, r"… \(30 in all\)"),
    ],
)  # fmt: skip
def test_what_is_not_clear_is_asked(header: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        found(header, name="votes.csv", **options)
    assert str(caught.value).startswith("votes.csv")


def test_only_a_wide_table_has_several_columns_of_annotators() -> None:
    with pytest.raises(OptionError, match=r"'annotator' names several columns.*'long'"):
        found("item ann bob", annotator=["ann", "bob"], shape="long")


def test_wide_tables() -> None:
    assert found("item ann bob") == ("wide", "item", "ann", "bob")
    assert found("what ann bob") == ("wide", "what", "ann", "bob")
    assert found("ann id bob") == ("wide", "id", "ann", "bob")
    assert found("item annotator1 annotator2 rater_3") == ("wide", "item", "annotator1", "annotator2", "rater_3")
    assert found("item ann") == ("wide", "item", "ann")
    assert found("item ann bob", annotator=["bob"]) == ("wide", "item", "bob")
    assert found("ann bob item", annotator=["bob", "ann"]) == ("wide", "item", "bob", "ann")
    assert found("ann bob what", annotator=["ann", "bob"]) == ("wide", "what", "ann", "bob")
    assert found("worker label ann", shape="wide") == ("wide", "worker", "label", "ann")
    assert found("worker label ann", shape="wide", annotator="ann") == ("wide", "worker", "ann")


def test_what_stands_beside_the_annotators_is_left_out() -> None:
    columns = recognise_columns(["", "id", "text", "ann", "bob", "gold_label", "split"])
    assert columns == Columns("wide", 1, many=(3, 4), left_out=(0, 2, 5, 6))
    # Without any other, a column without a name is that of the items, as pandas writes an index.
    assert recognise_columns(["", "ann", "bob"]) == Columns("wide", 0, many=(1, 2))


def test_soft_tables() -> None:
    def numeric(place: int) -> bool:
        return place > 1

    assert found("item annotator cat dog", is_numeric=numeric) == ("soft", "item", "annotator", "cat", "dog")
    assert found("item annotator cat dog", shape="soft") == ("soft", "item", "annotator", "cat", "dog")
    assert found("item annotator cat dog", classes=["dog", "cat"]) == ("soft", "item", "annotator", "dog", "cat")
    columns = recognise_columns(["item", "annotator", "seconds", "cat", "dog"], classes=["dog", "cat"])
    assert (columns.many, columns.left_out) == ((4, 3), (2,))
    with pytest.raises(InputError, match="holds the label"):
        found("item annotator cat dog", is_numeric=lambda place: place == 2)


def test_a_table_that_was_saved_has_columns_of_its_own() -> None:
    header = ["item", "annotator", "label", "weight", "annotation", "sequence", "position"]
    assert recognise_columns(header) == Columns("long", 0, 1, 2, 3, annotation=4, sequence=5, position=6)
    assert recognise_columns([*header[:3], "position"]) == Columns("long", 0, 1, 2, position=3)
    # Beside any other column these words mean something else.
    assert recognise_columns([*header, "seconds"]) == Columns("long", 0, 1, 2, 3)
