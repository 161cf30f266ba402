// A line of progress on stderr: rewritten in a terminal, a new one at each tenth elsewhere. Nothing with --json.

export interface ProgressLine {
  show(done: number, planned: number, more?: string): void
  /** Ends the line. */
  end(): void
}

export function progressLine(what: string, options: { json: boolean }): ProgressLine {
  if (options.json) return { show() {}, end() {} }
  const terminal = process.stderr.isTTY === true
  const started = Date.now()
  let lastAt = 0
  let lastTenth = -1
  let open = false
  return {
    show(done, planned, more = '') {
      const tenth = planned === 0 ? 10 : Math.floor((done / planned) * 10)
      const now = Date.now()
      if (terminal ? now - lastAt < 100 && done < planned : tenth === lastTenth) return
      lastAt = now
      lastTenth = tenth
      const seconds = (now - started) / 1000
      const left = done === 0 || done === planned ? '' : `, about ${Math.ceil((seconds / done) * (planned - done))} s left`
      const line = `${what}: ${done} of ${planned}${left}${more === '' ? '' : `, ${more}`}`
      process.stderr.write(terminal ? `\r\u001b[K${line}` : `${line}\n`)
      open = terminal
    },
    end() {
      if (open) process.stderr.write('\n')
      open = false
    },
  }
}

/** Aborted by the first Ctrl-C; a second one ends the process as usual. */
export function interruptSignal(): AbortSignal {
  const controller = new AbortController()
  process.once('SIGINT', () => controller.abort(new Error('interrupted')))
  process.once('SIGTERM', () => controller.abort(new Error('terminated')))
  return controller.signal
}
