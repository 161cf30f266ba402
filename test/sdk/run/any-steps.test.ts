// However an agent's generator goes and however it is read, the recorded one is the bare one.
import { homeground } from '@homeground/sdk'
import { MemoryExporter } from '@homeground/sdk/testing'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { failure } from './any-values.ts'

it('any sequence of steps, read by any sequence of a reader’s, is the same', async () => {
  const step = fc.constantFrom('yield', 'yield text', 'wait', 'throw', 'return')
  const move = fc.constantFrom('next', 'next', 'next', 'return', 'throw')
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 6 }), fc.array(move, { maxLength: 8 }), fc.boolean(), async (steps, moves, isAsync) => {
      function* sync(): Generator<unknown> {
        for (const each of steps) {
          if (each === 'throw') throw failure
          if (each === 'return') return 'done'
          if (each !== 'wait') yield each
        }
      }
      async function* later(): AsyncGenerator<unknown> {
        for (const each of steps) {
          if (each === 'throw') throw failure
          if (each === 'return') return 'done'
          if (each === 'wait') await new Promise(setImmediate)
          else yield each
        }
      }
      const read = async (generator: Generator<unknown> | AsyncGenerator<unknown>) => {
        const seen: unknown[] = []
        for (const each of moves) {
          try {
            seen.push(await (each === 'next' ? generator.next() : each === 'return' ? generator.return('left') : generator.throw(failure)))
          } catch (error) {
            seen.push(error)
          }
        }
        // To its end, as a loop would.
        seen.push(await Promise.resolve(generator.return('end')).catch((error: unknown) => error))
        return seen
      }
      const exporter = new MemoryExporter()
      const hg = homeground({ project: 'test', exporter })
      const make: () => Generator<unknown> | AsyncGenerator<unknown> = isAsync ? later : sync
      expect(await read(hg.agent('a', make)())).toEqual(await read(make()))
      await hg.shutdown()
      expect([exporter.spans.length, hg.stats().internalErrors, exporter.spans[0]?.attributes['homeground.partial']]).toEqual([
        1,
        0,
        undefined,
      ])
    }),
    { numRuns: 150 },
  )
})
