// A product in a process of its own that spools to disk, to be killed.
import { spawn } from 'node:child_process'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const sdk = pathToFileURL(path.resolve('sdk/dist/index.js')).href

/** A product that records a run for each user, prints their traces, and goes on until it is killed. */
export function spoolingProduct(spool: string, endpoint: string, users: readonly string[], project = 'p') {
  const program = `
    import { homeground } from ${JSON.stringify(sdk)}
    const hg = homeground({ project: ${JSON.stringify(project)}, endpoint: ${JSON.stringify(endpoint)}, spool: { folder: ${JSON.stringify(spool)} } })
    const find = hg.tool({ name: 'find', description: 'd', parameters: { type: 'object', properties: { question: { type: 'string' } } }, execute: async () => 'found' })
    const desk = hg.agent('desk', async (question) => {
      await find.execute({ question })
      return hg.trace()
    })
    const traces = []
    for (const user of ${JSON.stringify(users)})
      traces.push(await hg.session({ id: 's-' + user, user }, () => desk('a question of ' + user)))
    await new Promise((resolve) => setTimeout(resolve, 500))
    process.stdout.write(JSON.stringify(traces) + '\\n')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'pipe'] })
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += String(chunk)
  })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const traces = new Promise<string[]>((resolve, reject) => {
    child.stdout.once('data', (chunk) => resolve(JSON.parse(String(chunk)) as string[]))
    child.once('exit', () => reject(new Error(errors)))
  })
  return {
    traces,
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}
