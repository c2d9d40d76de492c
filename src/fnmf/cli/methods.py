"""``fnmf methods``: what --method accepts."""

from fnmf.cli import _options as options
from fnmf.cli._errors import handled


def methods(as_json: options.Json = False) -> None:
    """List the methods that 'fnmf cluster --method' knows."""
    with handled():
        import fnmf
        from fnmf.baselines import all_methods
        from fnmf.cli._outputs import to_json
        from fnmf.cli._show import add_row, console, table

        article = "Feature-weighted non-negative matrix factorisation (see CITATION.cff)"
        rows = [("FNMF", "k-means on the representation", True, True, article)]
        for entry in all_methods().values():
            known = getattr(fnmf.baselines, entry.name)
            new_rows = hasattr(known, "predict")
            rows.append((entry.name, entry.label_rule, entry.random, new_rows, entry.citation))
        if as_json:
            keys = ("name", "labels", "random", "new_rows", "citation")
            print(to_json({"methods": [dict(zip(keys, row, strict=True)) for row in rows]}))
            return
        shown = table("method", "labels from", "random", "new rows", "article")
        for name, rule, random, new_rows, citation in rows:
            add_row(shown, name, rule, _word(random), _word(new_rows), citation)
        console().print(shown)


def _word(value: bool) -> str:
    return "yes" if value else "no"
