"""Parts of a model with layers: each of the coarsest, and the finer ones that it is made of."""

from typing import Any

from fnmf.reporting._images import heat_image
from fnmf.statistics import top_indices

# Finer parts shown of each part, features that a part is told by, coarsest parts shown.
_FINER, _TOLD, _MOST = 4, 5, 40


def layer_summary(
    model: Any, names: list[str], image_shape: tuple[int, ...] | None
) -> dict[str, Any] | None:
    """The coarsest parts down to the finest, or ``None`` for a model without layers."""
    shares = getattr(model, "hierarchy_", ())
    if not shares:
        return None
    parts = model.layer_products_

    def described(layer: int, index: int, share: float | None = None) -> dict[str, Any]:
        values = parts[layer][index]
        finer: list[dict[str, Any]] = []
        if layer:
            row = shares[layer - 1][index]
            finer = [
                described(layer - 1, b, float(row[b])) for b in top_indices(row, _FINER) if row[b]
            ]
        named = [names[k] for k in top_indices(values, _TOLD) if values[k] > 0]
        image = None if image_shape is None else heat_image(values.reshape(image_shape))
        return {
            "name": f"part {index + 1}",
            "share": share,
            "features": named,
            "image": image,
            "finer": finer,
        }

    last = len(parts) - 1
    return {
        "sizes": [len(part) for part in parts],
        "parts": [described(last, a) for a in range(min(len(parts[last]), _MOST))],
    }
