// Runs in the page, as an expression: the texts whose contrast with what lies behind them is under 4.5 (WCAG AA).
;(() => {
  const channel = (value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4)
  const parse = (color) => (color.match(/[\d.]+/g) ?? []).map(Number)
  const light = ([red, green, blue]) => 0.2126 * channel(red) + 0.7152 * channel(green) + 0.0722 * channel(blue)
  const poor = new Set()
  for (const element of document.querySelectorAll('h1, h2, h3, p, dt, dd, th, td, summary span, .tone-better, .tone-worse, nav a, small')) {
    if (!element.textContent.trim() || element.closest('.keys') || element.ariaHidden) continue
    let behind = element
    while (behind && (parse(getComputedStyle(behind).backgroundColor)[3] ?? 1) < 1) behind = behind.parentElement
    const text = light(parse(getComputedStyle(element).color))
    const ground = light(parse(getComputedStyle(behind ?? document.body).backgroundColor))
    const ratio = (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05)
    if (ratio < 4.5) poor.add(`${element.className || element.tagName} ${element.textContent.trim().slice(0, 20)} ${ratio.toFixed(2)}`)
  }
  return [...poor].slice(0, 5)
})()
