"""Every constant of the default fit: what it decides, and the figure that supports it.

Functions of the default path take this record, or the values they need of it; no other number
there changes a result (``tests/architecture/test_defaults.py`` reads the syntax trees). Figures are
mean clustering accuracies over the labelled sets of docs/relevance.md and docs/choosing.md unless
said otherwise. A constant without a figure is marked *unmeasured*.

The module imports nothing, so that every layer can take the record as an argument.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Defaults:
    """Constants of the default fit, in the order of the steps of ``pipeline``."""

    # 1. Statistics of the features
    # Values are capped at this many times the mean of the positive ones; unmeasured.
    cap: float = 2.0
    # Features below this share of the largest typical value are left out: fourth powers of what
    # is smaller are no numbers; unmeasured.
    faint: float = 1e-30

    # 1. Missing cells
    # Nearest rows that a missing cell is filled from; 5 and 10 differ by .01 on Mfeat.
    missing_neighbors: int = 10
    # Times that they are filled in the features that count; digits with noise .83 once, .85 twice.
    missing_rounds: int = 2
    # So many cells at the mean of the feature count beside those; unmeasured.
    missing_prior: float = 0.2

    # 2. Search: the sample
    # Rows of the sample, at least; unmeasured.
    sample_rows: int = 1000
    # Rows of the sample for each cluster; unmeasured.
    sample_rows_per_cluster: int = 25
    # Rows of the sample, at most; unmeasured.
    sample_rows_most: int = 3000
    # Fewer rows than this are not searched, since neighbours tell nothing; unmeasured.
    fewest_rows: int = 5
    # Rows with a smaller share of entries other than 0 are stored as CSR; unmeasured.
    sparse_below: float = 0.05

    # 2. Search: redundant features
    # Random directions along which features are compared to find duplicates; unmeasured.
    duplicate_probes: int = 6
    # Duplicates agree along them to one part in so many of their length; unmeasured.
    duplicate_precision: float = 1e4
    # Rows from which correlations of features are taken; unmeasured.
    correlation_rows: int = 500
    # Standard deviations above chance at which a feature is correlated with others; unmeasured.
    correlated: float = 3.0

    # 2. Search: what is tried
    # Rows whose lengths vary by less than this share count as of one length; unmeasured.
    equal_lengths: float = 0.01
    # If more than this share of the features stays far from 0, 0 has no meaning; unmeasured.
    offset_features: float = 0.25
    # Too few to compare rows by: fewer than so many features carry the scatter; unmeasured.
    dominant_features: int = 2
    # The same relative to the features: fewer than one in so many; unmeasured.
    dominant_one_in: int = 4
    # Rounds of new weights and a new graph (graph_refresh=None); unmeasured.
    refreshes: int = 3
    # Clusters about means are tried if no modularity reaches this; unmeasured.
    means_below_modularity: float = 0.9
    # If more than this share of the features has weight, no other start is tried; unmeasured.
    nearly_all_features: float = 0.9
    # Weights that change by less than this share have converged; unmeasured.
    weight_tolerance: float = 0.01

    # 2. Search: weights of the features
    # Standard deviations above chance at which a weight begins to rise; unmeasured.
    weight_begins: float = 4.0
    # Standard deviations above chance from which a weight is 1; unmeasured.
    weight_full: float = 8.0
    # Standard deviations above chance from which a feature is relevant; unmeasured.
    relevant: float = 3.0
    # Explained shares below this get no weight, however significant; unmeasured.
    least_explained: float = 0.02
    # That limit is at most this share of what the best features have; unmeasured.
    least_of_best: float = 0.25
    # A weighting leaves a feature to another that explains so many times more; unmeasured.
    rival_share: float = 0.25
    # Probability that any useless feature counts as certain; 0.53 to 0.79 on cells with noise.
    uncertain: float = 0.05

    # 2. Search: clusters about means
    # Starts of k-means along the principal directions; unmeasured.
    means_starts: int = 4
    # Passes of subspace iteration that find these directions; unmeasured.
    means_passes: int = 6
    # Directions beyond those wanted, which help the last ones converge; unmeasured.
    means_spare: int = 4
    # Most iterations of k-means in few dimensions; unmeasured.
    kmeans_iterations: int = 100

    # 2. Search: tables
    # Features of a table at most, with those of one category counted apart; unmeasured.
    table_features: int = 500
    # Columns of a table at most; unmeasured.
    table_columns: int = 100
    # Values are capped at so many standard deviations above the mean; unmeasured.
    table_cap: float = 5.0
    # Whole numbers of at most so many levels are integers of few levels; unmeasured.
    integer_levels: int = 20
    # Correlation from which two features are one column; unmeasured.
    same_column: float = 0.98
    # So many columns or more of one unit are treated as pixels are; unmeasured.
    pixels: int = 30
    # Ranges of columns of one unit differ by this share of the usual one at most; unmeasured.
    like_ranges: float = 0.5
    # Their least values differ by this share of it at most; unmeasured.
    like_lowest: float = 0.05
    # Times that columns are halved to judge one half by clusters of the other; unmeasured.
    crossfit_splits: int = 12
    # Standard deviations above chance from which clusters of others explain a column; unmeasured.
    crossfit_certain: float = 6.0
    # Among many features a flag is 0 or 1 in more than this share of the rows; unmeasured.
    rare_flag: float = 0.05
    # With no more columns than this single ones with several modes count; unmeasured.
    few_columns: int = 3
    # Modes that a column is tested for, at most; unmeasured.
    most_modes: int = 4
    # Windows about medians, in units of the distance between two; unmeasured.
    mode_width: float = 0.125
    # Modes are so many times as far apart as their standard deviations together; unmeasured.
    modes_apart: float = 4.0
    # Standard deviations by which a valley is below the peaks beside it; unmeasured.
    valley: float = 5.0
    # Starts of k-means on the weighted columns; unmeasured.
    table_starts: int = 8
    # Clusters about means must hold up so many times better than those of a graph; unmeasured.
    table_means_price: float = 1.5

    # 2. Search: the score of a candidate
    # A modularity beyond this counts as complete; unmeasured.
    complete_modularity: float = 0.99
    # Weight of log explained against log odds of modularity; 0.784, modularity alone 0.770.
    explained_weight: float = 3.0
    # Price of columns in typical or spread units; 0.784 with all four, 0.772 tuned on other sets.
    common_units_price: float = 0.3
    # Bonus of rows of unit length; as above.
    unit_rows_bonus: float = 0.2
    # Price of clusters about means, which explain more by their nature; as above.
    means_price: float = 0.4

    # 2. Search: several weightings
    # They may lower modularity or what is explained by so much; unmeasured.
    weightings_slack: float = 0.005
    # Each must rest on features this relevant, relative to a single weighting's; unmeasured.
    weightings_relevance: float = 0.5
    # Starts of k-means that groups clusters of like weights; unmeasured.
    weightings_starts: int = 10

    # 2. Search: structure or chance
    # Times that features are halved; unmeasured.
    feature_splits: int = 3
    # Fewest features that can be halved, twice as many for rows of unit length; unmeasured.
    fewest_features: int = 2
    # Halves that agree by fewer standard deviations end the search for structure; unmeasured.
    hopeless: float = 1.0
    # More standard deviations are structure; one cluster on 1.00 of the shuffled sets.
    beyond_chance: float = 5.0
    # Shuffles that say how much labels agree by chance; unmeasured.
    label_shuffles: int = 100
    # Shuffled samples that halves of the features in use must beat; unmeasured.
    sample_shuffles: int = 3
    # They must do so by this much of the adjusted Rand index; unmeasured.
    beyond_shuffled: float = 0.1

    # 3. Preparation: clusters about means over all rows
    # Rounds of new weights and clusters, at most; unmeasured.
    lloyd_rounds: int = 3
    # Iterations of k-means in each of them, at most; unmeasured.
    lloyd_passes: int = 10
    # Fewer moves than this share of the rows end an iteration; unmeasured.
    still: float = 0.001

    # 4. Affinity
    # More rows than this have anchors instead of a graph; results/holding.csv.
    exact_rows: int = 10_000
    # Most neighbours of a graph that falls into parts, whose time they bound; unmeasured.
    most_neighbors: int = 80
    # Anchors; 500 to 4,000 compared in results/holding.csv.
    n_anchors: int = 2000

    # 5. Clusters of an affinity
    # Starts of k-means on each of the two scalings of the eigenvectors; unmeasured.
    partition_starts: int = 2
    # The same where a partition serves to compare others; unmeasured.
    comparison_starts: int = 1
    # Rows up to which all eigenvectors are computed densely; unmeasured.
    dense_eigen_rows: int = 200
    # Eigenvectors beyond those wanted; unmeasured.
    eigen_spare: int = 6
    # Degree of the Chebyshev filter; unmeasured.
    eigen_degree: int = 16
    # Filters at most; unmeasured.
    eigen_filters: int = 12
    # Residual at which eigenvectors are good enough; unmeasured.
    eigen_precision: float = 1e-3
    # The filter damps eigenvalues up to this at most; unmeasured.
    eigen_damped: float = 0.999
    # Resolution of modularity; unmeasured.
    resolution: float = 0.7
    # Beyond so many clusters the resolution grows with them; unmeasured.
    resolution_clusters: int = 10
    # Sweeps that move single samples, at most; unmeasured.
    move_sweeps: int = 20
    # The same with anchors; unmeasured.
    anchor_sweeps: int = 5
    # Clusters merge if tied by this share of the ties that a split cuts; unmeasured.
    merge_ties: float = 0.1
    # Splits with merges, at most; 0.781 without any, 0.792 with them.
    exchanges: int = 8
    # Those tried before a partition counts as the best; unmeasured.
    exchange_tries: int = 6
    # Samples of a cluster that can be split; unmeasured.
    fewest_to_split: int = 4
    # Rows with known labels that vote for one without; unmeasured.
    voters: int = 5

    # 6. Start of the factors
    # Share of the mean in every component, since updates cannot leave 0; unmeasured.
    mean_share: float = 0.01
    # Code of a cluster that a sample is not in, 1 more for its own; unmeasured.
    softness: float = 0.2

    # 6. Start of layers
    # Iterations for each layer before all are trained together; unmeasured.
    layer_iterations: int = 30

    # 7. Sample of the rows that the factors converge on first
    # One row in so many; results/holding.csv.
    start_one_in: int = 20
    # At least so many; with no more than twice as many rows there is no sample; unmeasured.
    start_fewest: int = 20_000
    # At most so many; unmeasured.
    start_most: int = 50_000
    # And at most so many entries; unmeasured.
    start_entries: int = 1 << 25
    # Rounds of coordinate descent for all codes after it; unmeasured.
    start_rounds: int = 5
    # Codes begin at this share of the largest of their row, at least; unmeasured.
    start_least_code: float = 1e-3

    # 8. Solve
    # Residuals below this share of the variance count as none; unmeasured.
    exact_residual: float = 0.01
    # Codes may still change by so many times ``tol``; unmeasured.
    code_tolerance: float = 100.0
    # Their change is measured once the objective's is below so many times ``tol``; unmeasured.
    nearly_settled: float = 100.0

    # 9. Representation
    # Shares of the smoothness that are tried for the codes; results/representation.csv.
    smoothness_shares: tuple[float, ...] = (1.0, 0.1, 0.01)
    # Rows whose neighbours are compared with those of their codes; unmeasured.
    kept_rows: int = 1000
    # Neighbours of each that are compared; unmeasured.
    kept_neighbors: int = 10

    # 10. Labels and what is said about them
    # Starts of k-means on the codes; unmeasured.
    code_starts: int = 3
    # Times that the sample is halved by rows to see which clusters are found again; unmeasured.
    row_splits: int = 2
    # Confidence from votes alone: level; calibration error .096 (benchmarks/choose.py).
    confidence_level: float = -1.27
    # Slope of the votes for the sample; as above.
    confidence_sample: float = 0.5
    # Slope of the mean votes in its cluster; as above.
    confidence_cluster: float = 0.1
    # Slope of the mean votes of all samples; as above.
    confidence_all: float = 0.31
    # Confidence with known stability: level; .103 on sets left out (confidence_map.py).
    stable_level: float = -0.70
    # Slope of the votes for the sample; as above.
    stable_sample: float = 0.52
    # Slope of the mean stability; as above.
    stable_back: float = 0.74
    # Added to shares of votes before their odds are taken; unmeasured.
    vote_doubt: float = 0.02
    # Features below this share of the mean energy count as empty; unmeasured.
    empty_feature: float = 0.01
    # A warning says that weights rest on less than this share of the features; unmeasured.
    collapsed_weights: float = 0.01
    # Rate of false discoveries among features called relevant; .05 found at .10.
    false_discoveries: float = 0.1

    # The number of clusters
    # Samples for each cluster in the first search; unmeasured.
    samples_per_cluster: int = 15
    # Weights found with one number serve others that differ by no more; unmeasured.
    near_number: int = 2
    # The second search has so many clusters more than were found; unmeasured.
    more_clusters: int = 1
    # Fewer rows than this have one cluster; unmeasured.
    fewest_rows_to_number: int = 10
    # Standard errors that a defensible number may lose against the best; unmeasured.
    defensible: float = 2.0
    # Price of ties expected by chance; exact on .87 of planted sets (0.7: .80, 0.9: .87).
    chance_price: float = 0.8
    # Weight of the eigengap; exact on .97 of planted sets, .87 without (0.1: .98).
    eigengap_weight: float = 0.05
    # Neighbours, in units of those of a fit; unmeasured.
    number_neighbors: int = 2
    # Samples for each cluster below which a number is left out; unmeasured.
    fewest_per_cluster: int = 4
    # Halves of the rows of a table in which clusters are looked for again; unmeasured.
    number_halves: int = 6
    # Adjusted Rand index from which clusters of a table are found again; unmeasured.
    found_again: float = 0.95
    # Where none is, numbers that lose no more than this against the best count too; unmeasured.
    found_slack: float = 0.02
    # Groups of clusters are a level if so many times as far apart as clusters; unmeasured.
    level_distance: float = 1.4
    # Agreement of halves below which structure is tested; shuffled .03 at most, sets .11 at least.
    least_agreement: float = 0.06


DEFAULTS = Defaults()
