#!/usr/bin/env node
// Stands in for Python: `HOMEGROUND_PYTHON` points here, and the settings say what it does. It speaks the trainer's events and needs no torch.
import fs from 'node:fs'
import path from 'node:path'

const settings = JSON.parse(fs.readFileSync(process.argv.at(-1), 'utf8'))
const say = (event, fields) => process.stdout.write(`${JSON.stringify({ event, at: '2026-01-01T00:00:00Z', ...fields })}\n`)
const act = settings.act ?? 'train'
process.stderr.write('a library says something\n')

if (act === 'refuse') {
  const fault = { field: 'optimizer.epochs', expected: 'a number above 0', found: '0', action: 'give a number above 0' }
  say('refused', { code: 'invalid-settings', faults: [fault, { ...fault, field: 'seed' }] })
  process.exit(2)
}
if (process.argv.includes('check')) {
  say('checked', {})
  process.exit(0)
}
fs.writeFileSync(path.join(settings.output, 'started.json'), '{}')
say('start', { recipe: settings.recipe, rows: 2, validationRows: 0 })
if (act === 'fail') {
  say('failed', { message: 'the disk is full', action: 'free some room' })
  process.exit(3)
}
if (act === 'die') {
  process.stderr.write('Killed by something\n')
  process.kill(process.pid, 'SIGKILL')
}
if (act === 'hang') {
  fs.writeFileSync(path.join(settings.output, 'pid'), String(process.pid))
  process.stdin.resume().on('end', () => process.exit(3))
} else {
  say('an-event-of-tomorrow', {})
  process.stdout.write('no JSON\n')
  for (const step of [1, 2]) say('step', { step, steps: 2, loss: 2 / step })
  fs.mkdirSync(path.join(settings.output, 'adapter'), { recursive: true })
  say('end', {
    already: false,
    format: 1,
    kind: 'adapter',
    path: 'adapter',
    recipe: settings.recipe,
    base: settings.model.base,
    steps: 2,
    seconds: 1.5,
    trainable: 1000,
    template: 'own',
    seed: 0,
    versions: { torch: '2.15.0' },
    loss: { first: 2, last: 1 },
    validationLoss: [],
  })
  process.exit(0)
}
