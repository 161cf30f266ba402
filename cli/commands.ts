// Every command, in the order that `homeground --help` lists them. A command file exports `register(program)`.
import type { Command } from 'commander'
import { register as collector } from './collector.ts'
import { register as compare } from './compare.ts'
import { register as dataset } from './dataset.ts'
import { register as dlq } from './dlq.ts'
import { register as doctor } from './doctor.ts'
import { register as env } from './env.ts'
import { register as erase } from './erase.ts'
import { register as gate } from './gate.ts'
import { register as grade } from './grade.ts'
import { register as importFiles } from './import.ts'
import { register as keys } from './keys.ts'
import { register as label } from './label.ts'
import { register as loop } from './loop.ts'
import { register as rescore } from './rescore.ts'
import { register as retention } from './retention.ts'
import { register as run } from './run.ts'
import { register as serveModel } from './serve-model.ts'
import { register as traces } from './traces.ts'
import { register as tune } from './tune.ts'
import { register as up } from './up.ts'

export const commands: ((program: Command) => void)[] = [
  up,
  doctor,
  collector,
  keys,
  dlq,
  erase,
  retention,
  importFiles,
  traces,
  env,
  grade,
  label,
  run,
  rescore,
  compare,
  dataset,
  tune,
  gate,
  serveModel,
  loop,
]
