// A self-contained page out of its template: one head and one palette for all of them, and a content security policy by hash that lets only the page's own script run, whatever a recording holds.
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import type { Markup } from './markup.ts'

/** @param template the file: `<!--head-->`, its own style, `<!--body-->`, at most one script. The page as text; pure but for reading files. */
export function renderPage(template: URL, parts: { title: Markup; body: Markup }): string {
  const page = fs.readFileSync(template, 'utf8')
  const head = fs.readFileSync(new URL('page-head.html', import.meta.url), 'utf8')
  const script = /<script>([\s\S]*?)<\/script>/.exec(page)?.[1] ?? ''
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'; base-uri 'none'; form-action 'none'`
  const texts: Record<string, string> = { policy, title: parts.title.text, body: parts.body.text }
  // Functions, not strings: `$&` in a recording would be read as a pattern.
  return page
    .replace('<!--head-->', () => head.trimEnd())
    .replace(/<!--(policy|title|body)-->/g, (whole, name: string) => texts[name] ?? whole)
}
