// Prints the one line that says how a test run ended: `N passed, N failed, N skipped`.
import type { Reporter, TestModule } from 'vitest/node'

export class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      const tests = [...module.children.allTests()]
      for (const test of tests) count[test.result().state] += 1
      // A module that breaks while it is loaded has no tests and would count as nothing.
      if (module.state() === 'failed' && !tests.some((test) => test.result().state === 'failed')) count.failed += 1
    }
    process.stdout.write(`${count.passed} passed, ${count.failed + count.pending} failed, ${count.skipped} skipped\n`)
  }
}
