// Opens gates on one split, when told to begin, and prints the number of each. With `die`, kills itself when its last one is open.
import { openGate } from '../../../dist/tune/gate/ledger.js'

const [file, name, count, end] = process.argv.slice(2)
process.stdout.write('ready\n')
process.stdin.once('data', () => {
  const numbers = []
  for (let index = 0; index < Number(count); index += 1) {
    const look = {
      at: '1970-01-01T00:00:00.000Z',
      id: `${name}-${index}`,
      testHash: 'split',
      baseline: 'base',
      candidate: name,
      run: 'run',
    }
    numbers.push(openGate(file, look).gate)
  }
  if (end === 'die') process.kill(process.pid, 'SIGKILL')
  process.stdout.write(`${JSON.stringify(numbers)}\n`)
  process.stdin.destroy()
})
