"""From the names on the command line to an estimator."""

from typing import TYPE_CHECKING, Any

from fnmf.cli._errors import UsageError
from fnmf.cli._progress import IterationCallback, working

if TYPE_CHECKING:
    from pathlib import Path

    from fnmf.cli._fit_options import Model

# The class that goes on from checkpoints and reads by blocks.
OURS = "FNMF"
# What choosing a number says itself.
_OF_THE_CHOICE = {"n_components", "n_clusters", "random_state", "n_jobs"}


def load_plugins(files: "list[Path] | None") -> None:
    """Run files of the user's that register methods."""
    if files:
        from fnmf.experiments import run_plugin

        for file in files:
            run_plugin(file)


def make_model(options: "Model", n_clusters: int) -> Any:
    """The unfitted estimator; parameters it does not have are named in the error."""
    from fnmf.baselines import all_methods

    methods = {_plain(name): entry for name, entry in all_methods().items()}
    if _plain(options.method) not in methods:
        # The default first, the others in the order of the list.
        names = sorted((entry.name for entry in methods.values()), key=lambda name: name != "FNMF")
        known = ", ".join(names)
        raise UsageError(f"--method {options.method} is not known; use one of {known}.")
    entry = methods[_plain(options.method)]
    for name, value in (("known", options.known), ("layers", options.layers)):
        if value is not None and entry.name != OURS:
            raise UsageError(f"--{name} works with --method {OURS} only.")
    given = options.given()
    if options.layers is not None:
        model = _with_layers(options, given.pop("n_components", n_clusters), n_clusters)
    elif options.known is not None:
        from fnmf import SemiFNMF

        model = SemiFNMF(n_clusters=n_clusters, random_state=options.seed)
    else:
        model = entry.factory(n_clusters=n_clusters, random_state=options.seed)
    known_names = model.get_params(deep=False)
    if "n_jobs" in known_names:
        given["n_jobs"] = options.jobs
    for name in given:
        if name not in known_names:
            raise UsageError(
                f"{type(model).__name__} has no parameter {name!r}; "
                f"it has {', '.join(sorted(known_names))}."
            )
    return model.set_params(**given)


def _with_layers(options: "Model", n_components: int, n_clusters: int) -> Any:
    """A model whose last layer has so many components."""
    from fnmf import DeepFNMF

    if options.known is not None:
        raise UsageError("--layers does not go with --known; leave one of them out.")
    try:
        sizes = tuple(int(size) for size in str(options.layers).split(","))
    except ValueError:
        sizes = (0,)
    if min(sizes) < 1:
        raise UsageError(f"--layers {options.layers!r} is not of the form 100,30.")
    layers = (*sizes, n_components)
    return DeepFNMF(layers, n_clusters=n_clusters, random_state=options.seed)


def _plain(name: str) -> str:
    """A name as people type it: k-means is kmeans is KMeans."""
    return name.upper().replace("-", "").replace("_", "")


def recommend(X: Any, model: Any, seed: int, jobs: int | None) -> Any:
    """The number of clusters that the data recommend; explored as a model of ours would do it."""
    from fnmf import choose_n_components
    from fnmf._compile import tell_first_compiling

    given = model.get_params(deep=False) if type(model).__name__ == OURS else {}
    known = {name: value for name, value in given.items() if name not in _OF_THE_CHOICE}
    tell_first_compiling()
    with working("Comparing numbers of clusters"):
        return choose_n_components(X, random_state=seed, n_jobs=jobs, **known)


def fit_model(model: Any, X: Any, *known: Any, **options: Any) -> list[str]:
    """Fit with a progress bar; what the method warned about comes back as sentences.

    ``known`` are the classes of some rows, if any are.
    """
    import warnings

    from fnmf._compile import tell_first_compiling

    # Before the bar is drawn.
    tell_first_compiling()
    limit = model.get_params(deep=False).get("max_iter")
    starts = model.get_params(deep=False).get("n_init", 1)
    total = limit * starts if isinstance(limit, int) and isinstance(starts, int) else None
    if model.get_params(deep=False).get("weighting") == "relevance":
        # The limit holds for each round, and how many rounds there will be nobody knows.
        total = None
    with warnings.catch_warnings(record=True) as caught, working("Fitting") as step:
        warnings.simplefilter("always")
        if hasattr(model, "set_callbacks"):
            model.set_callbacks(IterationCallback(step, total))
        try:
            model.fit(X, *known, **options)
        finally:
            if hasattr(model, "set_callbacks"):
                model.set_callbacks()
    from sklearn.exceptions import ConvergenceWarning

    from fnmf.exceptions import NoStructureWarning

    # That the limit was reached or nothing was found is in the diagnosis, and is said once.
    known = (ConvergenceWarning, NoStructureWarning)
    kept = [w for w in caught if not issubclass(w.category, known)]
    shown = (" ".join(str(warning.message).split()) for warning in kept)
    return list(dict.fromkeys(shown))
