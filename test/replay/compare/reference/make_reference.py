"""Makes reference.json, the numbers that replay/compare must give: CR2 and Bell-McCaffrey from their matrix definitions, the rest from SciPy and statsmodels.

Run: python make_reference.py   (numpy 2.4, scipy 1.17, statsmodels 0.15). Not needed for the tests, which read the committed file.
"""
import json
from pathlib import Path

import numpy as np
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

random = np.random.default_rng(20261202)


def cr2(values: np.ndarray, clusters: np.ndarray, x: np.ndarray | None = None) -> dict:
    """The last coefficient of a regression on x (a constant by itself): V = M (sum_g X_g' A_g e_g e_g' A_g X_g) M with A_g = (I - H_gg)^(-1/2), df = tr(P)^2 / tr(P^2) of the Satterthwaite matrix."""
    n = len(values)
    x = np.ones((n, 1)) if x is None else x
    bread = np.linalg.inv(x.T @ x)
    hat = x @ bread @ x.T
    coefficients = bread @ x.T @ values
    mean = coefficients[-1].item()
    residuals = values - x @ coefficients
    variance = 0.0
    columns = []
    for cluster in np.unique(clusters):
        at = clusters == cluster
        eigenvalues, vectors = np.linalg.eigh(np.eye(at.sum()) - hat[np.ix_(at, at)])
        adjust = vectors @ np.diag(eigenvalues**-0.5) @ vectors.T
        variance += (bread @ x[at].T @ adjust @ residuals[at])[-1].item() ** 2
        columns.append(((np.eye(n) - hat)[:, at] @ adjust @ x[at] @ bread)[:, -1:])
    g = np.hstack(columns)
    eigenvalues = np.linalg.eigvalsh(g.T @ g)
    df = eigenvalues.sum() ** 2 / (eigenvalues**2).sum()
    se = float(np.sqrt(variance))
    t = stats.t(df)
    return {
        "mean": mean,
        "standardError": se,
        "degreesOfFreedom": float(df),
        "low95": mean - t.ppf(0.975) * se,
        "high95": mean + t.ppf(0.975) * se,
        "low90": mean - t.ppf(0.95) * se,
        "high90": mean + t.ppf(0.95) * se,
        "p": float(2 * t.sf(abs(mean / se))),
        "detectable": float((t.ppf(0.975) + t.ppf(0.8)) * se),
    }


def sizes(kind: str, count: int) -> np.ndarray:
    if kind == "one":
        return np.ones(count, int)
    if kind == "equal":
        return np.full(count, 4)
    if kind == "geometric":
        return random.geometric(0.3, count)
    return np.clip(np.ceil(random.pareto(1.2, count)).astype(int), 1, 150)


def tables() -> list:
    made = []
    designs = [(kind, count) for kind in ("one", "equal", "geometric", "pareto") for count in (2, 6, 13, 30, 75)]
    for number, (kind, count) in enumerate(designs):
        each = sizes(kind, count)
        clusters = np.repeat(np.arange(count), each)
        if number % 2 == 0:
            values = np.round(random.normal(0.1, 0.5, len(clusters)) + np.repeat(random.normal(0, 0.3, count), each), 6)
        else:
            values = random.integers(-1, 2, len(clusters)) / random.choice([1, 2, 3])
        made.append({"design": f"{count} clusters, {kind}", "values": values.tolist(), "clusters": clusters.tolist(), "expect": cr2(values, clusters)})
    return made


def two_samples() -> list:
    """Arms that share no cluster; the coefficient is that of the candidate's dummy."""
    own = np.random.default_rng(20261203)
    made = []
    for baseline, candidate in [(2, 2), (6, 7), (13, 30), (75, 8)]:
        each = own.geometric(0.3, baseline + candidate)
        clusters = np.repeat(np.arange(baseline + candidate), each)
        arm = (clusters >= baseline).astype(int)
        values = np.round(own.normal(0.5, 0.3, len(clusters)) + 0.1 * arm + np.repeat(own.normal(0, 0.2, baseline + candidate), each), 6)
        x = np.column_stack([np.ones(len(values)), arm])
        made.append({"design": f"{baseline} and {candidate} clusters", "values": values.tolist(), "clusters": clusters.tolist(), "arm": arm.tolist(), "expect": cr2(values, clusters, x)})
    return made


def main() -> None:
    counts = [(0, 5), (3, 9), (10, 10), (40, 61), (500, 600), (2000, 2300)]
    p_values = [np.round(random.random(size) ** 3, 8).tolist() for size in (1, 3, 8)]
    reference = {
        "tables": tables(),
        "twoSamples": two_samples(),
        "signTest": [{"wins": a, "losses": b, "p": float(stats.binomtest(a, a + b, 0.5).pvalue), "mcnemar": float(mcnemar([[0, a], [b, 0]], exact=True).pvalue)} for a, b in counts],
        "wilson": [
            {"successes": a, "trials": b, "low": float(low), "high": float(high)}
            for a, b in [(0, 7), (1, 1), (84, 200), (199, 200)]
            for low, high in [proportion_confint(a, b, alpha=0.05, method="wilson")]
        ],
        "holm": [{"p": p, "adjusted": multipletests(p, method="holm")[1].tolist()} for p in p_values],
    }
    Path(__file__).with_name("reference.json").write_text(json.dumps(reference, indent=1) + "\n")


main()
