// A mistake of the product's, not its weather: it is told where every Node process shows it, also where no logger of OpenTelemetry listens.

const said = new WeakMap<object, Set<string>>()

/** Sentences of one owner that are told: the next ones would be the same mistake in other words. */
const most = 20

/** A warning of the process: each of `owner`'s sentences once. */
export function warnHost(owner: object, sentence: string): void {
  const before = said.get(owner) ?? new Set()
  if (before.has(sentence) || before.size >= most) return
  said.set(owner, before.add(sentence))
  process.emitWarning(`homeground: ${sentence}`)
}
