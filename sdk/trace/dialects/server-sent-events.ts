// Server-sent events: text in, the payload of each event out. All line ends, comments, several data lines, as the HTML standard has it.

/**
 * Calls `event` for each event of a whole stream's text, in order; `data` has its lines joined by \n. The text may break off anywhere. `run` may take events by
 * itself: it is told where one begins with `data:`, and says where the next one begins that it did not take.
 */
export function readServerSentEvents(
  text: string,
  event: (data: string, name: string | undefined) => void,
  run?: (text: string, start: number) => number,
): void {
  let data: string | undefined
  let name: string | undefined
  // A byte order mark before the first event is no part of it.
  let start = text.charCodeAt(0) === 0xfeff ? 1 : 0
  let carriage = text.indexOf('\r')
  const length = text.length
  while (start < length) {
    const feed = text.indexOf('\n', start)
    let end = feed < 0 ? length : feed
    // A stream without a single CR (nearly all) is not searched for one again.
    if (carriage >= 0 && carriage < start) carriage = text.indexOf('\r', start)
    if (carriage >= 0 && carriage < end) end = carriage
    const next = text.charCodeAt(end) === 13 && text.charCodeAt(end + 1) === 10 ? end + 2 : end + 1
    if (end === start) {
      if (data !== undefined) event(data, name)
      data = undefined
      name = undefined
    } else {
      if (text.startsWith('data:', start)) {
        // Only where all line ends are \n.
        if (run !== undefined && data === undefined && name === undefined && carriage < 0) {
          const taken = run(text, start)
          if (taken > start) {
            start = taken
            continue
          }
        }
        const value = text.slice(start + (text.charCodeAt(start + 5) === 32 ? 6 : 5), end)
        data = data === undefined ? value : `${data}\n${value}`
      } else if (text.startsWith('event:', start)) {
        name = text.slice(start + (text.charCodeAt(start + 6) === 32 ? 7 : 6), end)
      }
    }
    start = next
  }
  if (data !== undefined) event(data, name)
}
