// Tests that need a part this machine lacks (engine, broker, browser, Python) are skipped with the reason printed; HOMEGROUND_REQUIRE=all makes that a failure.

const required = new Set((process.env['HOMEGROUND_REQUIRE'] ?? '').split(',').filter(Boolean))

/** What `describe.skipIf` needs: true when `part` is missing. Prints the reason; throws instead where `HOMEGROUND_REQUIRE` names the part or says `all`. */
export function missing(part: string, reason: string | undefined): boolean {
  if (reason === undefined) return false
  if (required.has('all') || required.has(part)) throw new Error(`${part} is required by HOMEGROUND_REQUIRE but missing: ${reason}`)
  process.stderr.write(`SKIPPED (${part}): ${reason}\n`)
  return true
}
