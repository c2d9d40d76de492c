"""Plain NumPy, dense and in double precision: one iteration written down from the mathematics.

Independent of the package on purpose: nothing here is imported from it. Slow, and meant to be.
"""

from dataclasses import dataclass, replace

import numpy as np

ROUNDS_V, ROUNDS_U = 2, 4


@dataclass
class State:
    """U (d x c), V (n x c), P (n x m), theta (m x d)."""

    U: np.ndarray
    V: np.ndarray
    P: np.ndarray
    theta: np.ndarray


@dataclass
class Problem:
    """Data and the weights of the penalties; S is symmetric with an empty diagonal.

    With ``scale_free`` the graph term is β Σ_a ‖u_a‖² v_aᵀ L v_a instead of β Σ_a v_aᵀ L v_a.
    """

    X: np.ndarray
    S: np.ndarray
    diversity: float = 1.0
    smoothness: float = 1.0
    scale_free: bool = False

    def lengths(self, U):
        """‖u_a‖² of each component, or 1 where they do not count."""
        return (U**2).sum(axis=0) if self.scale_free else np.ones(U.shape[1])

    @property
    def live(self):
        return (self.X != 0).any(axis=0)


def residuals(problem, state):
    """q_ij = ‖θ_j ∘ x_i − U v_i‖²."""
    fit = state.V @ state.U.T
    return np.stack([((problem.X * t - fit) ** 2).sum(axis=1) for t in state.theta], axis=1)


def roughness_of(problem, V):
    """v_aᵀ L v_a, as half the sum over all pairs of S_ij (v_ia − v_ja)²."""
    return 0.5 * np.einsum("ij,ijc->c", problem.S, (V[:, None, :] - V[None, :, :]) ** 2)


def terms(problem, state):
    """Total, reconstruction, diversity and smoothness, each from its definition."""
    reconstruction = float((state.P**2 * residuals(problem, state)).sum())
    overlap = state.theta @ state.theta.T
    diversity = problem.diversity * float(overlap.sum() - np.trace(overlap))
    roughness = roughness_of(problem, state.V)
    smoothness = problem.smoothness * float(problem.lengths(state.U) @ roughness)
    return {
        "total": reconstruction + diversity + smoothness,
        "reconstruction": reconstruction,
        "diversity": diversity,
        "smoothness": smoothness,
    }


def objective(problem, state):
    return terms(problem, state)["total"]


def magnitude(problem, state):
    """Size of the numbers that cancel in the objective: what its rounding is relative to."""
    squares = state.P**2
    energy = (squares * np.stack([((problem.X * t) ** 2).sum(1) for t in state.theta], 1)).sum()
    fitted = (squares.sum(axis=1) * ((state.V @ state.U.T) ** 2).sum(axis=1)).sum()
    degree = problem.S.sum(axis=1)
    graph = problem.smoothness * (degree @ state.V**2) @ problem.lengths(state.U)
    return float(energy + fitted + 2 * graph + terms(problem, state)["diversity"])


def parts_of_v(problem, state):
    """Positive and negative half of the gradient over two: ∇_V F = 2 (below − above)."""
    squares = state.P**2
    Y = problem.X * (squares @ state.theta)
    strength = problem.smoothness * problem.lengths(state.U)
    above = Y @ state.U + strength * (problem.S @ state.V)
    degree = problem.S.sum(axis=1)[:, None]
    below = squares.sum(axis=1)[:, None] * (state.V @ (state.U.T @ state.U))
    return above, below + strength * degree * state.V


def parts_of_u(problem, state):
    squares = state.P**2
    Y = problem.X * (squares @ state.theta)
    return Y.T @ state.V, state.U @ _gram(problem, state)


def _gram(problem, state):
    """Half the Hessian of the objective in a row of U."""
    gram = state.V.T @ ((state.P**2).sum(axis=1)[:, None] * state.V)
    if problem.scale_free:
        gram += problem.smoothness * np.diag(roughness_of(problem, state.V))
    return gram


def _multiply(values, above, below, solver):
    ratio = np.divide(above, below, out=np.zeros_like(above), where=below > 0)
    return values * (np.sqrt(ratio) if solver == "mu" else ratio)


def step_v(problem, state, solver):
    if solver != "hals":
        return replace(state, V=_multiply(state.V, *parts_of_v(problem, state), solver))
    V = state.V.copy()
    squares = state.P**2
    cross = (problem.X * (squares @ state.theta)) @ state.U
    gram = state.U.T @ state.U
    strength = problem.smoothness * problem.lengths(state.U)
    for _ in range(ROUNDS_V):
        for i in range(len(V)):
            for a in range(V.shape[1]):
                drag = strength[a] * problem.S[i].sum()
                pull = strength[a] * problem.S[i] @ V[:, a]
                slope = squares[i].sum() * gram[a] @ V[i] + drag * V[i, a] - cross[i, a] - pull
                curvature = squares[i].sum() * gram[a, a] + drag
                if curvature > 0:
                    V[i, a] = max(V[i, a] - slope / curvature, 0)
    return replace(state, V=V)


def step_p(problem, state, shared):
    q = residuals(problem, state)
    if shared:
        q = np.tile(q.sum(axis=0), (len(q), 1))
    zero = q == 0
    inverse = np.where(zero.any(axis=1, keepdims=True), zero, 1 / np.where(zero, 1, q))
    return replace(state, P=inverse / inverse.sum(axis=1, keepdims=True))


def simplex_by_bisection(a, b):
    """Σ a θ² + b θ on the simplex for a > 0: the multiplier is found by halving an interval."""
    low, high = b.min(), b.max() + 2 * a.max()
    for _ in range(200):
        middle = (low + high) / 2
        if (np.maximum(middle - b, 0) / (2 * a)).sum() < 1:
            low = middle
        else:
            high = middle
    theta = np.maximum((low + high) / 2 - b, 0) / (2 * a)
    return theta / theta.sum()


def step_theta(problem, state):
    theta, live = state.theta.copy(), problem.live
    R = state.V @ state.U.T
    for j in range(len(theta)):
        weight = state.P[:, j] ** 2
        a = weight @ problem.X**2
        others = theta.sum(axis=0) - theta[j]
        b = -2 * weight @ (problem.X * R) + 2 * problem.diversity * others
        theta[j] = 0
        theta[j, live] = simplex_by_bisection(a[live], b[live])
    return replace(state, theta=theta)


def step_u(problem, state, solver):
    if solver != "hals":
        return replace(state, U=_multiply(state.U, *parts_of_u(problem, state), solver))
    U = state.U.copy()
    squares = state.P**2
    cross = (problem.X * (squares @ state.theta)).T @ state.V
    gram = _gram(problem, state)
    for _ in range(ROUNDS_U):
        for a in range(U.shape[1]):
            if gram[a, a] > 0:
                U[:, a] = np.maximum(U[:, a] + (cross[:, a] - U @ gram[:, a]) / gram[a, a], 0)
    return replace(state, U=U)


def order(solver, shared):
    """Blocks in the order in which an iteration visits them."""
    if shared:
        return "V", "theta", "P", "U"
    return ("V", "P", "theta", "U") if solver == "hals" else ("V", "U", "P", "theta")


def iterate(problem, state, solver, shared, learn=True):
    """One iteration. With a scale-free graph term the components have unit length after it."""
    for block in order(solver, shared):
        if block == "V":
            state = step_v(problem, state, solver)
        elif block == "P" and state.P.shape[1] > 1:
            state = step_p(problem, state, shared)
        elif block == "theta" and learn:
            state = step_theta(problem, state)
        elif block == "U":
            state = step_u(problem, state, solver)
            if problem.scale_free:
                norms = np.linalg.norm(state.U, axis=0)
                norms[norms == 0] = 1
                state = replace(state, U=state.U / norms, V=state.V * norms)
    return state
