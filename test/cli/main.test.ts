// The command line as a whole: each command is found under its name, and a reader that goes away is no crash.
import { spawn } from 'node:child_process'
import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { commands, registerCommands } from '../../cli/commands.ts'
import { commandLine, homegroundCommand } from '../support/command.ts'

describe('the command line', () => {
  it.each(Object.keys(commands))('registers `%s` alone when it is named', async (name) => {
    const program = new Command()
    await registerCommands(program, ['--json', name])
    expect(program.commands.map((command) => command.name())).toEqual([name])
  })

  it('registers every command when none is named', async () => {
    const program = new Command()
    await registerCommands(program, ['--help'])
    expect(program.commands.map((command) => command.name())).toEqual(Object.keys(commands))
  })

  it('does not take a name of every object for a command', async () => {
    const program = new Command()
    await registerCommands(program, ['constructor'])
    expect(program.commands).toHaveLength(Object.keys(commands).length)
  })

  it('a group of commands alone prints its help, and nothing else', async () => {
    const { code, stdout, stderr } = await homegroundCommand(['traces'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^Usage: homeground traces /)
    expect(stderr).not.toContain('error:')
  })

  it('each command says that --json is there', async () => {
    expect((await homegroundCommand(['traces', 'list', '--help'])).stdout).toContain('--json')
  })

  it('ends without a stack when the reader of its output has gone', async () => {
    const child = spawn(process.execPath, [commandLine, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.destroy()
    let complaints = ''
    child.stderr.on('data', (data) => {
      complaints += data
    })
    const code = await new Promise((resolve) => child.on('close', resolve))
    expect({ code, complaints }).toEqual({ code: 141, complaints: '' })
  })
})
