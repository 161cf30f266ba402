// What `homeground()` gives when it is switched off.
import { noStats } from './run/stats.ts'
import { recordTool } from './run/tool.ts'
import { ToolRegistry } from './run/tool-registry.ts'
import type { Homeground } from './types.ts'

/** Off: the functions that were given, nothing around them. */
export function straightThrough(): Homeground {
  const tools = new ToolRegistry(undefined)
  return {
    enabled: false,
    wrap: (client) => client,
    fetch: globalThis.fetch,
    agent: (_, fn) => fn,
    tool: (options) => {
      const tool = recordTool(undefined, options)
      tools.add({ ...tool, call: (call) => Reflect.apply(tool.call, tool, [call]) })
      return tool
    },
    callTool: (call) => tools.call(call),
    toolDefinitions: tools.definitions(),
    io: async (_, fn) => await fn(),
    now: Date.now,
    random: Math.random,
    variant: (_, otherwise) => otherwise,
    session: (_, fn) => fn(),
    captureContent: (_, fn) => fn(),
    trace: () => undefined,
    carry: () => undefined,
    resume: (_, fn) => fn(),
    feedback: () => undefined,
    spanProcessor: () => ({ onStart: () => {}, onEnd: () => {}, forceFlush: async () => {}, shutdown: async () => {} }),
    flush: async () => true,
    shutdown: async () => undefined,
    stats: noStats,
  }
}
