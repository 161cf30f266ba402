// Writes what a gate said into the lineage of a model that we trained.
import fs from 'node:fs'
import path from 'node:path'
import type { GateResult } from '../tune/gate/index.ts'
import { readModelFile, writeModelFile } from '../tune/train/index.ts'

/** Does nothing for a model without model.json. The same gate again replaces its entry. */
export function recordGate(folder: string, { promotion, record }: GateResult): void {
  if (!fs.existsSync(path.join(folder, 'model.json'))) return
  const file = readModelFile(folder)
  const kept = file.gates.filter((gate) => gate.record !== record)
  const entry = { at: promotion.at, verdict: promotion.verdict, promoted: promotion.promoted, record }
  writeModelFile(folder, { ...file, gates: [...kept, entry] })
}
