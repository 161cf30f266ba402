// A map whose keys are JSON, the same where JSON.stringify would write the same.
import { sameJson } from './json.ts'

/** So many keys are compared one by one, which costs less than writing each that is asked for. */
const few = 8

/** Keys must not change. */
export class JsonMap<Key extends object, Value> {
  private readonly entries: [Key, Value][] = []
  private indices: { byKey: Map<Key, Value>; byText: Map<string, Value> } | undefined

  get(key: Key): Value | undefined {
    if (this.entries.length <= few) {
      const found = this.entries.find(([known]) => known === key) ?? this.entries.find(([known]) => sameJson(known, key))
      return found?.[1]
    }
    this.indices ??= {
      byKey: new Map(this.entries),
      byText: new Map(this.entries.map(([known, value]) => [JSON.stringify(known), value])),
    }
    return this.indices.byKey.get(key) ?? this.indices.byText.get(JSON.stringify(key))
  }

  /** Of a key that is not in it. */
  add(key: Key, value: Value): void {
    this.entries.push([key, value])
    this.indices?.byKey.set(key, value)
    this.indices?.byText.set(JSON.stringify(key), value)
  }
}
