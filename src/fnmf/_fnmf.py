"""The estimator: parameters in, fitted record adopted. No mathematics here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import scipy.sparse as sp
from numpy.typing import ArrayLike

from fnmf._base import FactorisationBase
from fnmf._sklearn import with_callbacks

if TYPE_CHECKING:
    from fnmf._checkpoint import Checkpoint


class FNMF(FactorisationBase):
    """Feature weighted non-negative matrix factorisation.

    Factorises non-negative data like NMF, but learns which features matter: several weightings
    of the features, each sample a mixture of them, and a neighbour graph that keeps close
    samples close. It is a transformer (the representation) and a clusterer.

    Parameters
    ----------
    n_components : int or "auto", default=8
        Number of components c, that is the length of the representation. ``"auto"`` takes
        ``n_clusters`` if that is given, and else the number of clusters that
        :func:`fnmf.choose_n_components` recommends.
    n_weightings : int, default=3
        Number m of weightings of the features. ``weighting="relevance"`` uses at most one for each
        cluster, and a single one where several separate worse or rest on less relevant features.
    diversity : float, default=0.01
        λ, the price of similar weightings in ``weighting="paper"``. Relevance does not need it:
        a feature is left to the weightings that explain it well.
    smoothness : float, default=100.0
        β, how much neighbours are held together. With ``weighting="relevance"`` in units of
        the variance of the rows, so that one value suits most data.
    representation : {"auto", "clusters", "parts"}, default="auto"
        What the codes are for; clusters do not depend on it. ``"clusters"``: neighbours are held
        together by all of ``smoothness``, and codes say little more than the cluster of a sample.
        ``"parts"``: by a hundredth of it, and codes tell samples of a cluster apart. ``"auto"``:
        by a hundredth to a tenth of it: more where clusters hold together better, less where there
        are more components. Only for ``weighting="relevance"``; others hold by ``smoothness``.
    n_neighbors : int, default=5
        Neighbours of a sample in the graph.
    graph : {"adaptive", "approximate"}, sparse matrix or None, default="adaptive"
        ``"adaptive"`` builds the adaptive-neighbour graph from an exact search; with
        ``weighting="relevance"`` and more than 10,000 samples it holds each sample to the nearest
        of 2,000 anchors instead. ``"approximate"`` searches with faiss (extra ``ann``). A
        symmetric non-negative matrix of shape (n_samples, n_samples) is used as it is. ``None``
        leaves the graph out.
    weighting : {"relevance", "paper", "uniform"} or array of shape (n_features,), \
            default="relevance"
        ``"relevance"``: a feature counts as far as the clusters explain it better than chance.
        How rows and columns are scaled is found out on a sample of the rows, see ``row_norm``
        and ``column_units``; values are capped at twice the mean of a feature's positive ones
        (of tables at 5 standard deviations), and copies of a feature share one vote.
        ``"paper"``: weights on the simplex, learned as in the article; they collapse on data
        whose features differ in energy. ``"uniform"``: all features weigh 1/d, nothing is learned.
        An array holds weights of your own, at least 0: one weighting for data and neighbours.
    graph_refresh : int or None, default=None
        How often the neighbour graph is rebuilt from the weighted features. ``None`` means 3
        for ``weighting="relevance"``, which does so on the sample it explores, with new weights
        each time until they settle; and 0 for ``"paper"``, which goes on from where it stands.
        A graph of your own stays as it is.
    assignment : {"sample", "shared"}, default="sample"
        ``"sample"``: each sample mixes the weightings in its own way, the exact minimiser.
        ``"shared"``: all samples use the same mixture, as the article prints it; an iteration
        then costs no more than one of plain NMF.
    solver : {"mu", "mu-fast", "hals"}, default="mu-fast"
        ``"mu"``: the article's multiplicative update with its square root. ``"mu-fast"``:
        without it. ``"hals"``: exact minimisation of one coordinate after the other. With
        ``weighting="paper"`` the slower ``"mu"`` stays further from the trivial minima of the
        objective and mostly gives better clusters.
    init : {"kmeans", "random", "nndsvda"}, tuple of arrays or fitted FNMF, default="kmeans"
        ``"kmeans"`` turns a k-means partition into codes and its means into the basis. A
        tuple holds an embedding (n_samples, n_components) and components (n_components,
        n_features); a fitted model gives both. With ``"relevance"`` the partition is the graph's.
    row_norm : {"auto", "unit", "none"}, default="auto"
        Whether ``weighting="relevance"`` brings rows to unit length. Right where the size of a
        row is exposure (documents, counts, light), wrong where it tells classes apart (many
        tables); ``"auto"`` tries both on a sample and keeps the better, see ``chosen_``.
    column_units : {"auto", "own", "typical", "spread"}, default="auto"
        Whether ``weighting="relevance"`` leaves features in their own units or divides each by
        its typical value or its standard deviation; ``"auto"`` tries what makes sense for the
        data, for tables standard deviation and range; ``chosen_`` says what was taken.
    normalize_components : bool, default=True
        Scale each component to unit length in every iteration and the representation with it, so
        that ``smoothness`` means the same on all data; ``"relevance"`` always does. The graph term
        is then β Σ_a ‖u_a‖² v_aᵀ L v_a, which scaling does not change: the objective still falls.
    n_clusters : int or None, default=None
        Clusters for ``labels_``; ``None`` means ``n_components``.
    consensus : int or None, default=None
        Resamples, each of four fifths of the samples, to fit as well. All of them vote for the
        clusters, and say how sure these are.
    negative : {"error", "shift"}, default="error"
        What is done about features with negative values, which cannot be factorised.
        ``"error"`` refuses them. ``"shift"`` lets them start at 0: the smallest value of each is
        taken off, and added again by ``inverse_transform``. Values of new rows that lie below it
        are raised to it, with a warning, and counted in ``n_clipped_``.
    max_iter : int, default=300
        Most iterations of a start; with several rounds, of each.
    tol : float, default=1e-4
        Relative change of the objective, and a tenth of that of the codes, that ends a start.
    n_init : int, default=1
        Starts, of which the one with the lowest objective, or the best score, is kept.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the starts and of k-means.
    n_jobs : int or None, default=None
        Threads; ``None`` means those of the linear algebra library. Results do not depend on it.
    verbose : int, default=0
        1 prints what is done, 2 every tenth iteration too.
    feature_groups : array-like of shape (n_features,) or None, default=None
        The group that each feature belongs to, numbers or names: the 0/1 features of one
        category, or the features of one table of several. With ``weighting="relevance"`` a group
        counts as one column: its features share one vote, so that all groups enter with the same
        scatter, and ``group_relevance_`` has the mean relevance of each. ``column_units="auto"``
        means ``"spread"`` then, but for tables.
    column_kinds : dict, array-like of shape (n_columns,) or None, default=None
        Kinds of columns of a table, ``"flag"``, ``"category"``, ``"integer"``, ``"ordinal"`` or
        ``"continuous"``, by name, by position or for each column, None where it shall be found. A
        category of a frame becomes a 0/1 feature for each level.
    components : array-like of shape (n_components, n_features) or None, default=None
        Known ones in units of X, rows of NaN to be found; not for ``weighting="paper"``.
    warm_start : bool, default=False
        Whether a further ``fit`` starts from the factors of the last one.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Basis, Uᵀ.
    embedding_ : ndarray of shape (n_samples, n_components)
        Representation of the training samples, V.
    feature_weights_ : ndarray of shape (n_weightings, n_features)
        Weightings; each sums to 1. Relevance may keep fewer than asked for.
    assignments_ : ndarray of shape (n_samples, n_weightings)
        How much each sample uses each weighting; each row sums to 1.
    feature_importances_ : ndarray of shape (n_features,)
        With ``weighting="relevance"`` the relevance of each feature as a share of their sum,
        otherwise the mean over the samples of the weightings they use; sums to 1.
    feature_relevance_ : ndarray of shape (n_features,)
        Share of each feature's variance that the clusters explain beyond what chance would
        (three standard deviations above a shuffled feature), 0 to 1. Only for ``"relevance"``.
    effective_features_ : ndarray of shape (n_weightings,)
        1 / Σ θ² of each weighting: over how many features it is spread.
    weighting_overlap_ : ndarray of shape (n_weightings, n_weightings)
        Cosines between the weightings: 1 where two coincide.
    empty_weight_ : ndarray of shape (n_weightings,)
        Share of each weighting on features with less than a hundredth of the mean energy.
    graph_ : csr_array of shape (n_samples, n_samples) or None
        Neighbour graph; ``None`` too where samples are held to anchors.
    graph_rows_ : ndarray of shape (n_samples,)
        Row of ``graph_``, which has distinct samples of positive weight, of each sample, or -1.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample, by the graph or about means for ``weighting="relevance"`` with a
        graph, otherwise by k-means on ``embedding_``.
    batch_relevance_ : ndarray of shape (n_features,)
        Share of each feature's variance that batches explain beyond chance, if there are any.
    batch_mixing_ : ndarray of shape (n_clusters,)
        Entropy of the batches in each cluster as a share of that in all samples; 1 is well mixed.
    chosen_ : list of dict
        Preparations that were tried, the chosen first: ``rows``, ``columns``, ``clusters`` by
        graph or means, ``features`` used, ``modularity``, features ``explained``, ``score``.
        Only for ``weighting="relevance"``.
    structure_ : float or None
        Agreement of the clusters found from two halves of the features, in standard deviations
        from chance; ``None`` where it could not be tested, as with other weightings.
    structure_found_ : bool or None
        Whether the clusters are more than chance, by ``structure_`` (more than 5) or by a second
        test with the features in use, see the page on relevance; ``None`` if neither could be made.
    sample_confidence_ : ndarray of shape (n_samples,)
        Probability that a sample is of the kind that most of its cluster is of, from the votes
        of its neighbours (of the resamples, if there are any).
    second_labels_ : ndarray of shape (n_samples,)
        The second-best cluster of each sample.
    cluster_stability_ : ndarray of shape (n_clusters,)
        How much of each cluster comes back (Jaccard index) when halves of the samples are clustered
        anew, at least, or when resamples are fitted, on average. From 0.75 a cluster is called
        solid, from 0.5 soft, below not reproducible. Only for ``"relevance"`` or resamples.
    feature_qvalues_ : ndarray of shape (n_features,)
        The smallest rate of false discoveries at which a feature is called relevant: of those
        with at most 0.1, about a tenth is there by chance. Only for ``weighting="relevance"``.
    column_kinds_ : ndarray of shape (n_features,)
        Kind of each feature, ``"flag"``, ``"category"``, ``"integer"``, ``"continuous"`` or
        ``"constant"``, where ``"relevance"`` treats the data as a table of few columns.
    n_components_ : int
        Number of components, chosen or given.
    k_scores_ : structured ndarray
        Scores by number of clusters, see :class:`fnmf.choosing.NumberOfClusters`. Only for
        ``n_components="auto"``, as the next two.
    k_interval_, k_also_ : tuple of int
        Smallest and largest defensible number of clusters; other levels of a hierarchy.
    objective_ : float
        Final value of the objective.
    history_ : structured ndarray of shape (n_iter,)
        Terms of the objective after each iteration: ``total``, ``reconstruction``,
        ``diversity``, ``smoothness``, and the ``round`` in which the total falls.
    smoothness_ : float
        How much neighbours were held together for the codes. Only for ``"relevance"``.
    n_iter_ : int
        Iterations of the start that was kept, over all samples.
    rows_without_values_ : ndarray of int
        If X has missing values: samples of which all are missing. They had no part in the fit,
        are in the largest cluster and have confidence 0.
    unit_ : float
        A power of two by which data in extreme units are divided, 1 for all others.
    shift_ : ndarray of shape (n_features,)
        What was added to each feature. Only for ``negative="shift"``, as the next.
    n_clipped_ : int
        Values of new rows since the fit that were below the smallest of the fit.
    categories_ : dict
        Levels of the categories of a frame, by column. Only for frames with categories.
    n_features_in_ : int
        Features seen during fit; each level of a category is one.

    Notes
    -----
    With samples as rows, the objective of ``weighting="paper"`` is

    .. math:: \\sum_{ij} p_{ij}^2 \\|θ_j ∘ x_i - U v_i\\|^2
              + λ \\sum_{j≠l} ⟨θ_j, θ_l⟩ + β \\, tr(V^T L V)

    over non-negative U and V, rows θ_j of the weights and p_i of the assignments on the
    simplex, L the Laplacian of the neighbour graph. The blocks V, P, Θ, U are updated in turn;
    none of the updates raises the objective.

    ``weighting="relevance"`` minimises

    .. math:: \\sum_{ijk} p_{ij}^2 [ω_{jk} (z_{ik} - u_k·v_i)^2 + π_{jk} (z_{ik} - μ_k)^2]
              + β \\sum_a \\|u_a\\|_ω^2 \\, v_a^T L v_a

    where z are the rows as they were prepared. Weights ω, prices π of leaving features out and
    the preparation are chosen before, from clusters of a sample; see the page on relevance.

    References
    ----------
    M. Chen, M. Gong, X. Li, "Feature Weighted Non-negative Matrix Factorization", IEEE
    Transactions on Cybernetics.

    Examples
    --------
    >>> from fnmf import FNMF
    >>> from fnmf.datasets import make_noisy_gaussians
    >>> X, y = make_noisy_gaussians(random_state=0)
    >>> model = FNMF(n_components=3, random_state=0).fit(X)
    >>> bool(model.feature_importances_[:2].sum() > 0.9)
    True
    """

    def __init__(
        self,
        n_components: Any = 8,
        *,
        n_weightings: int = 3,
        diversity: float = 0.01,
        smoothness: float = 100.0,
        representation: str = "auto",
        n_neighbors: int = 5,
        graph: Any = "adaptive",
        weighting: Any = "relevance",
        graph_refresh: int | None = None,
        assignment: str = "sample",
        solver: str = "mu-fast",
        init: Any = "kmeans",
        row_norm: str = "auto",
        column_units: str = "auto",
        normalize_components: bool = True,
        n_clusters: int | None = None,
        consensus: int | None = None,
        negative: str = "error",
        max_iter: int = 300,
        tol: float = 1e-4,
        n_init: int = 1,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        feature_groups: Any = None,
        column_kinds: Any = None,
        components: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_weightings = n_weightings
        self.diversity = diversity
        self.smoothness = smoothness
        self.representation = representation
        self.n_neighbors = n_neighbors
        self.graph = graph
        self.weighting = weighting
        self.graph_refresh = graph_refresh
        self.assignment = assignment
        self.solver = solver
        self.init = init
        self.row_norm = row_norm
        self.column_units = column_units
        self.normalize_components = normalize_components
        self.n_clusters = n_clusters
        self.consensus = consensus
        self.negative = negative
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.feature_groups = feature_groups
        self.column_kinds = column_kinds
        self.components = components
        self.warm_start = warm_start

    @with_callbacks
    def fit(
        self,
        X: ArrayLike | sp.sparray,
        y: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        checkpoint: str | Path | Checkpoint | None = None,
        batch: ArrayLike | None = None,
    ) -> Self:
        """Learn weights, basis, representation and clusters.

        Parameters
        ----------
        X : {array-like, sparse matrix, memory map, MappedCSR} of shape (n_samples, n_features)
            Non-negative data. NaN are missing values: they have no part in statistics and data
            term, and are filled from the nearest samples where distances are taken.
        y : Ignored
            Present by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            As how many samples each counts: one of weight 2 is the same as two equal ones, one of
            weight 0 has no part in the fit. Equal rows are always taken together.
        checkpoint : str, Path or Checkpoint, default=None
            A folder to which the fit writes every 30 seconds, or as a :class:`fnmf.Checkpoint`
            says, how far it has come. The same fit goes on from there if it was interrupted,
            and ends with the same result. A folder of another fit is refused.
        batch : array-like of shape (n_samples,), default=None
            Batch of each sample, a name or a number: all batches have the same share of neighbours,
            and relevance is that within batches.

        Returns
        -------
        self
        """
        from fnmf._fitting import fit_estimator

        fit_estimator(self, X, checkpoint, sample_weight=sample_weight, batch=batch)
        return self
