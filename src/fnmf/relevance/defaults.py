"""Every constant of the default fit: what it decides, and the figure that supports it.

Functions of the default path take this record, or the values they need of it; no other number
there changes a result (``tests/architecture/test_defaults.py`` reads the syntax trees). Figures are
mean clustering accuracies over the labelled sets of docs/relevance.md and docs/choosing.md or, with
a sign, changes of the mean in results/ablation_means.csv. Others are marked *unmeasured*.

The module imports nothing, so that every layer can take the record as an argument.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Defaults:
    """Constants of the default fit, in the order of the steps of ``pipeline``."""

    # Everywhere
    # Shares below this count as nothing, as does tol beside a change; for moves 0.001: .0000.
    negligible: float = 0.01
    # Shares and probabilities below this are slight; agreement 0.9: planted .79 for .83.
    slight: float = 0.05
    # Shares, also of false discoveries, below this are small; as merge ties 0: -.0069.
    small: float = 0.1
    # Shares of the best, or of all, below this are minor; unmeasured.
    minor: float = 0.25
    # Ranges of columns of one unit differ by at most this share; 0.25: .0000 in the ablation.
    half: float = 0.5
    # What counts beside 1 that was seen: the mean of a feature, other clusters; 0.25 there: .0000.
    prior: float = 0.2
    # Standard deviations above chance that are significant; unmeasured.
    significant: float = 3.0
    # Standard deviations that are clear; as of valleys: 0 of 1,200 columns of chance.
    clear: float = 4.0
    # Standard deviations that are beyond doubt; shuffled sets have 1.00 one cluster.
    beyond_chance: float = 5.0
    # Fewer rows are no cluster, up to twice as many one; 5: .0000.
    fewest_rows: int = 4
    # Times that features, or rows, are halved, or samples shuffled; 2 for rows: .0000.
    splits: int = 3
    # Starts of k-means, twice as many for tables; 3 on the codes: -.0045 on the 24 sets.
    starts: int = 4
    # Sweeps over rows at most, of moves or of k-means; 20 for moves: .0000.
    sweeps: int = 10
    # Nearest rows that decide a label or a missing cell; 5: .0000, for cells .01 on Mfeat.
    nearest_rows: int = 10
    # Shuffles that say how much labels agree by chance; 50: .0000.
    shuffles: int = 100

    # 1. Statistics of the features
    # Values are capped at so many times the mean of the positive; none: -.0102 (error .0093).
    cap: float = 2.0

    # 1. Missing cells
    # Times that they are filled in the features that count; digits with noise .83 once, .85 twice.
    missing_rounds: int = 2

    # 2. Search: the sample
    # Rows of the sample, at least; unmeasured.
    sample_rows: int = 1000

    # 2. Search: correlations
    # Rows of which all correlations are taken, and features that a table has at most; 1000: .0000.
    most_correlated: int = 500

    # 2. Search: what is tried
    # Rounds of new weights and a new graph (graph_refresh=None); unmeasured.
    refreshes: int = 3

    # 2. Search: weights of the features
    # Explained shares below this get no weight, however significant; 0.01: +.0012 (error .0011).
    least_explained: float = 0.02

    # 2. Search: tables
    # Columns of a table at most; unmeasured.
    table_columns: int = 100
    # Whole numbers of at most so many levels are integers of few levels; 10: .0000.
    integer_levels: int = 20
    # So many columns or more of one unit are treated as pixels are; unmeasured.
    pixels: int = 30
    # Clusters about means must hold up so many times better than those of a graph; unmeasured.
    table_means_price: float = 1.5

    # 2. Search: the score of a candidate
    # Weight of log explained against log odds of modularity; 0.784, modularity alone 0.770.
    explained_weight: float = 3.0

    # 4. Affinity
    # More rows have anchors, not a graph, and factors begun on half as many; results/holding.csv.
    exact_rows: int = 10_000
    # Most neighbours of a graph that falls into parts, whose time they bound; none added: -.0013.
    most_neighbors: int = 80
    # Anchors; 500 to 4,000 compared in results/holding.csv.
    n_anchors: int = 2000
    # Neighbours of a sample in each batch, at least: one could not be weighed; unmeasured.
    batch_neighbors: int = 3

    # 5. Clusters of an affinity
    # Connected parts smaller than this share of their mean size are no clusters; unmeasured.
    least_part: float = 0.1
    # Resolution of modularity; unmeasured.
    resolution: float = 0.7
    # Beyond so many clusters the resolution grows with them; without -.0018 (error .0016).
    resolution_clusters: int = 10
    # Splits with merges, and those tried for each, at most; .781 without, .792; 6 tries: .0000.
    exchanges: int = 8

    # 9. Representation
    # Iterations for the codes; 300 differ by less than .01 in both probes on four sets.
    code_iterations: int = 30

    # 10. Labels and what is said about them
    # Confidence from votes: level, slopes of the sample's, the cluster's and all votes; error .096.
    confidence_by_votes: tuple[float, ...] = (-1.27, 0.5, 0.1, 0.31)
    # The same with known stability: level, slopes of the votes and of it; error .103.
    confidence: tuple[float, ...] = (-0.70, 0.52, 0.74)

    # The number of clusters
    # Samples for each cluster, of the search and of its first number; 25 in the search: .0000.
    samples_per_cluster: int = 15
    # Price of ties expected by chance; exact on .87 of planted sets (0.7: .80, 0.9: .87).
    chance_price: float = 0.8


DEFAULTS = Defaults()
