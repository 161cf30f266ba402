// Exact tests on counts of wins and losses: the sign test over sessions, and McNemar's over tasks, are the same binomial.

/** Two-sided p value of `wins` against `losses` where each is equally likely; 1 where there is neither. Ties are left out by the caller. */
export function signTest(wins: number, losses: number): number {
  const n = wins + losses
  const fewer = Math.min(wins, losses)
  if (wins === losses) return 1
  // The largest term of the tail first, then the smaller ones by their ratio: nothing underflows on the way.
  let logTerm = -n * Math.LN2
  for (let i = 1; i <= fewer; i++) logTerm += Math.log((n - fewer + i) / i)
  let relative = 1
  let term = 1
  for (let k = fewer; k > 0 && term > 1e-18; k--) {
    term *= k / (n - k + 1)
    relative += term
  }
  return Math.min(1, 2 * Math.exp(logTerm) * relative)
}
