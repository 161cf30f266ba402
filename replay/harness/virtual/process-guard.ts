// Keeps a rollout in its own thread. A process or thread of the product's own has neither seam nor guard: its models and tools would be live, its clock and dice the system's. So none is started unless the environment allows it.
// One started while the product is loaded is left alone: a logger's thread harms nothing, and no rollout is there yet to be stopped.
import type childProcess from 'node:child_process'
import { createRequire } from 'node:module'
import type workerThreads from 'node:worker_threads'
import { HomegroundError } from '@homeground/sdk/trace'
import { rolloutScope } from './scope.ts'

const builtin = createRequire(import.meta.url)

/** Replaces the one place where every asynchronous child process begins, the synchronous ones, `Worker`, and `process.kill`. */
export function guardProcesses(): void {
  guardChildren()
  guardThreads()
  guardSignals()
}

function guardChildren(): void {
  const node: typeof childProcess = builtin('node:child_process')
  // spawn, exec, execFile, fork and their promises.
  const realSpawn: unknown = Reflect.get(node.ChildProcess.prototype, 'spawn')
  Reflect.set(node.ChildProcess.prototype, 'spawn', function spawn(this: unknown, ...given: [{ args?: string[]; file?: string }]) {
    const [{ args, file }] = given
    refuseStart('process', () => (args ?? [file]).join(' '))
    return Reflect.apply(Function.prototype.call, realSpawn, [this, ...given])
  })
  for (const name of ['spawnSync', 'execSync', 'execFileSync'] as const) {
    const real = node[name]
    Reflect.set(node, name, (...given: unknown[]) => {
      refuseStart('process', () =>
        given
          .flat()
          .filter((part) => typeof part === 'string')
          .join(' '),
      )
      return Reflect.apply(real, node, given)
    })
  }
}

function guardThreads(): void {
  const node: typeof workerThreads = builtin('node:worker_threads')
  node.Worker = new Proxy(node.Worker, {
    construct(target, given, self) {
      refuseStart('thread', () => String(given[0]))
      return Reflect.construct(target, given, self)
    },
  })
}

function refuseStart(kind: 'process' | 'thread', what: () => string): void {
  const scope = rolloutScope.getStore()
  if (scope === undefined || scope.allowProcesses) return
  throw refuse(`start a ${kind} of its own (${what().slice(0, 300)})`)
}

/** A signal to the own process would end the run, not the rollout alone: never allowed. */
function guardSignals(): void {
  const real = process.kill
  process.kill = (pid, signal = 'SIGTERM') => {
    const scope = rolloutScope.getStore()
    const endsRun = [0, -1, process.pid, -process.pid].includes(Number(pid))
    if (signal !== 0 && (endsRun || (scope !== undefined && !scope.allowProcesses))) throw refuse(`send ${signal} to process ${pid}`)
    return Reflect.apply(real, process, [pid, signal])
  }
}

function refuse(what: string): HomegroundError {
  const reason = new HomegroundError('unwrapped-process', `in a replay the product tried to ${what}`, {
    hint: "wrap what that is for with hg.io(name, fn), make it a tool with hg.tool, or allow it in env.json's harness (allowProcesses: true; never a signal to its own process)",
  })
  rolloutScope.getStore()?.blocked(reason)
  return reason
}
