"""How a model does where its input is moved a little against it: the fast gradient sign method and projected descent.

PyTorch is loaded when a function is called, not before.
"""

from __future__ import annotations

__all__ = [
    "Attack",
    "attacked_logits",
    "fgsm_accuracy_score",
    "fgsm_loss",
    "pgd_accuracy_score",
    "pgd_loss",
]

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.core.simplex import check_simplex, softmax
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import InputError, MissingExtraError, OptionError, check_choice
from sfumato.evaluate.accuracy import accuracy_score
from sfumato.evaluate.soft_cross_entropy import soft_cross_entropy_loss

if TYPE_CHECKING:
    from torch import Tensor

Attack = Literal["fgsm", "pgd"]
# Images and the like, or what a Hugging Face text model takes: input_ids, attention_mask, …
Inputs = Any
Bounds = tuple[float, float] | None | Literal["auto"]


def fgsm_loss(model: Callable[..., Any], inputs: Inputs, people: ArrayLike | SoftLabels, **options: Any) -> float:
    """Return the mean soft cross-entropy −Σ p log q after one step of size ε against the model.

    *people* of shape (n_items, n_classes), or classes of shape (n_items,); the options are those of `attacked_logits`.
    (Goodfellow et al. 2015; Peterson et al. 2019; Collins et al. 2022.)

    >>> fgsm_loss(lambda x: x, [[0.0, 0.0]], [[0.25, 0.75]], epsilon=0.0)
    0.6931471805599453
    """
    return _loss(attacked_logits(model, inputs, people, attack="fgsm", **options), people)


def pgd_loss(model: Callable[..., Any], inputs: Inputs, people: ArrayLike | SoftLabels, **options: Any) -> float:
    """Return the mean soft cross-entropy −Σ p log q after many small steps against the model (Madry et al. 2018).

    As `fgsm_loss`; the options are those of `attacked_logits`.
    """
    return _loss(attacked_logits(model, inputs, people, attack="pgd", **options), people)


def fgsm_accuracy_score(
    model: Callable[..., Any],
    inputs: Inputs,
    gold: ArrayLike,
    *,
    people: ArrayLike | SoftLabels | None = None,
    **options: Any,
) -> float:
    """Return the share of items whose class is still right after one step of size ε against the model.

    *gold* of shape (n_items,). The step is against *people* where they are given, as in Collins et al. (2022), else
    against gold.

    >>> [fgsm_accuracy_score(lambda x: x, [[0.6, 0.4]], [0], epsilon=epsilon) for epsilon in (0.01, 0.2)]
    [1.0, 0.0]
    """
    against = gold if people is None else people
    return accuracy_score(softmax(attacked_logits(model, inputs, against, attack="fgsm", **options)), gold)


def pgd_accuracy_score(
    model: Callable[..., Any],
    inputs: Inputs,
    gold: ArrayLike,
    *,
    people: ArrayLike | SoftLabels | None = None,
    **options: Any,
) -> float:
    """Return the share of items whose class is still right after many small steps against the model.

    As `fgsm_accuracy_score` (Madry et al. 2018).
    """
    against = gold if people is None else people
    return accuracy_score(softmax(attacked_logits(model, inputs, against, attack="pgd", **options)), gold)


def attacked_logits(
    model: Callable[..., Any],
    inputs: Inputs,
    people: ArrayLike | SoftLabels,
    *,
    attack: Attack = "fgsm",
    epsilon: float = 4 / 255,
    bounds: Bounds = "auto",
    n_steps: int | None = None,
    step_size: float | None = None,
    seed: int = 0,
    batch_size: int = 128,
) -> NDArray[np.float64]:
    """Return the model's logits, shape (n_items, n_classes), of inputs moved by at most ε to raise its loss.

    *model* takes a batch and gives logits, or an object that has them as ``logits``. *inputs* are a tensor whose first
    axis is the items, pixels in [0, 1] say, with any normalisation inside the model; or the mapping that a Hugging Face
    tokenizer gives, and then it is the embeddings of the tokens that are moved. *people*, row by row, are soft labels
    or classes; the loss is their cross-entropy with the model.

    "fgsm" takes x' = x + ε·sign(∇ₓ loss). "pgd" starts anywhere within ε of x (by *seed*) and takes *n_steps* (10) of
    *step_size* (2.5 ε / n_steps), never farther than ε from x in any coordinate. Both stay within *bounds*: "auto" is
    (0, 1) for a tensor and none for embeddings. The model is in evaluation mode meanwhile, and neither its mode nor its
    gradients are changed for the caller. (Goodfellow et al. 2015; Madry et al. 2018.)
    """
    torch = _torch()
    check_choice(attack, get_args(Attack), option="attack")
    if attack == "fgsm" and (n_steps is not None or step_size is not None):
        raise OptionError("The options 'n_steps' and 'step_size' belong to the attack pgd. fgsm takes one step of ε.")
    n_steps = 1 if attack == "fgsm" else 10 if n_steps is None else n_steps
    _check_numbers(epsilon=epsilon, n_steps=n_steps, step_size=step_size, batch_size=batch_size)
    labels = _labels(people)
    text = isinstance(inputs, Mapping)
    given: Any = {name: torch.as_tensor(value) for name, value in inputs.items()} if text else torch.as_tensor(inputs)
    n_items = _checked_length(given, labels)
    low, high = _limits(bounds, text)
    if not text:
        if not given.is_floating_point():
            raise InputError(f"Inputs must be floating point, pixels from 0 to 1 say. Got {given.dtype}.")
        if low is not None and bool(((given < low) | (given > high)).any()):
            raise InputError(
                f"Inputs must lie between {low:g} and {high:g}. Got {float(given.min()):.4g} to {given.max():.4g}. "
                "Put the normalisation inside the model, or give their 'bounds'."
            )
    size = epsilon if attack == "fgsm" else 2.5 * epsilon / n_steps if step_size is None else step_size
    device = next((parameter.device for parameter in getattr(model, "parameters", tuple)()), torch.device("cpu"))
    generator = torch.Generator().manual_seed(seed)
    found = []
    with _evaluating(model), torch.enable_grad():
        for first in range(0, n_items, batch_size):
            rows = slice(first, first + batch_size)
            label = torch.as_tensor(labels[rows])
            forward, start = _door(model, given, rows, device, label)
            nearest, farthest = start - epsilon, start + epsilon
            if low is not None:
                nearest, farthest = nearest.clamp(min=low), farthest.clamp(max=high)
            x = start
            if attack == "pgd":
                # Drawn on the CPU, item after item, so that neither the device nor the size of a batch matters.
                draw = torch.rand(start.shape, dtype=torch.float64, generator=generator)
                x = (start + ((2 * draw - 1) * epsilon).to(start)).clamp(nearest, farthest)
            for _ in range(n_steps):
                x = x.detach().requires_grad_()
                # Summed, not averaged: the step of an item must not depend on those beside it.
                logits = forward(x)
                target = label.to(logits) if label.is_floating_point() else label.to(logits.device)
                loss = torch.nn.functional.cross_entropy(logits, target, reduction="sum")
                (gradient,) = torch.autograd.grad(loss, x)
                x = (x.detach() + size * gradient.sign()).clamp(nearest, farthest)
            with torch.no_grad():
                found.append(forward(x.detach()).cpu().double().numpy())
    return np.concatenate(found)


def _door(
    model: Callable[..., Any], given: Any, rows: slice, device: Any, label: Tensor
) -> tuple[Callable[[Tensor], Tensor], Tensor]:
    """Return logits as a function of what is moved, for the items of *rows*, and where it starts from."""
    if not isinstance(given, Mapping):
        return lambda x: _logits(model(x), label), given[rows].to(device)
    rest = {name: value[rows].to(device) for name, value in given.items()}
    embed = model.get_input_embeddings()  # type: ignore[attr-defined]
    embeddings = embed(rest.pop("input_ids")).detach()
    return lambda x: _logits(model(inputs_embeds=x, **rest), label), embeddings


def _logits(output: Any, label: Tensor) -> Tensor:
    """Return the logits of an output, float32 at least, if they fit the labels."""
    logits: Tensor = getattr(output, "logits", output)
    shape = tuple(getattr(logits, "shape", ()))
    soft = label.ndim == 2
    if len(shape) != 2 or (shape != tuple(label.shape) if soft else shape[0] != len(label)):
        wanted = tuple(label.shape) if soft else (len(label), "classes")
        raise InputError(
            f"The model must give logits of the shape ({wanted[0]}, {wanted[1]}) here, or an object that has them as "
            f"'logits'. Got {type(logits).__name__} of shape {shape}."
        )
    if not soft and int(label.max()) >= shape[1]:
        raise InputError(f"There is a label {int(label.max())}, and the model knows the classes 0 to {shape[1] - 1}.")
    return logits if logits.dtype.itemsize >= 4 else logits.float()


@contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    """Put every part of the model into evaluation mode, and each back into its own."""
    parts = list(model.modules()) if hasattr(model, "modules") else []
    modes = [part.training for part in parts]
    if parts:
        model.eval()
    try:
        yield
    finally:
        for part, mode in zip(parts, modes, strict=True):
            part.training = mode


def _labels(people: ArrayLike | SoftLabels) -> NDArray[Any]:
    """Return soft labels, shape (n_items, n_classes), float64, or classes, shape (n_items,), int64."""
    labels = people.probs if isinstance(people, SoftLabels) else np.asarray(people)
    if labels.ndim == 1 and labels.dtype.kind in "iu" and len(labels) and labels.min() >= 0:
        return labels.astype(np.int64)
    if labels.ndim != 2 or not labels.size or labels.dtype.kind not in "iuf":
        raise InputError(
            "Labels must be soft labels (items, classes) or class numbers from 0 on (items,). "
            f"Got {labels.dtype} of shape {labels.shape}."
        )
    labels = labels.astype(np.float64)
    check_simplex(labels, what="soft labels")
    return labels


def _loss(logits: NDArray[np.float64], people: ArrayLike | SoftLabels) -> float:
    labels = _labels(people)
    if labels.ndim == 1:
        labels = np.eye(logits.shape[1])[labels]
    return soft_cross_entropy_loss(softmax(logits), labels)


def _checked_length(given: Any, labels: NDArray[Any]) -> int:
    if isinstance(given, Mapping) and "input_ids" not in given:
        raise InputError(f"A mapping of inputs must have 'input_ids', as tokenizers give. Got {', '.join(given)}.")
    lengths = {len(value) for value in given.values()} if isinstance(given, Mapping) else {len(given)}
    if lengths != {len(labels)}:
        counts = " and ".join(map(str, sorted(lengths)))
        raise InputError(f"There are {counts} inputs and {len(labels)} labels. Both need one row for each item.")
    return len(labels)


def _limits(bounds: Bounds, text: bool) -> tuple[float, float] | tuple[None, None]:
    if bounds == "auto":
        return (None, None) if text else (0.0, 1.0)
    if bounds is None:
        return None, None
    low, high = bounds
    if not low < high:
        raise OptionError(f"The option 'bounds' must be a lower and a higher number. Got {bounds} instead.")
    return float(low), float(high)


def _check_numbers(*, epsilon: float, n_steps: int, step_size: float | None, batch_size: int) -> None:
    if not 0 <= epsilon < np.inf:
        raise OptionError(f"The option 'epsilon' must be 0 or more. Got {epsilon} instead.")
    if step_size is not None and not 0 < step_size < np.inf:
        raise OptionError(f"The option 'step_size' must be above 0. Got {step_size} instead.")
    for name, value in (("n_steps", n_steps), ("batch_size", batch_size)):
        if value < 1:
            raise OptionError(f"The option '{name}' must be 1 or more. Got {value} instead.")


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise MissingExtraError("Moving inputs against a model", "train") from None
    return torch
