/** The frame and the look of every page that the server makes itself: complete, small, in light and dark, without scripts. */

import { namedQuality } from '../pipeline/http/accept.ts'
import { escapeMarkup } from '../pipeline/http/markup.ts'

/** Colours and ground that all of them share. Pairs that carry text meet WCAG 2.2 AA in both schemes. */
const LOOK = `
:root{color-scheme:light dark;--text:#1d2330;--soft:#5a6375;--back:#f4f5f8;--card:#fff;--line:#dfe2ea;--field:#7d8596;--accent:#2f5bd0;--tint:#eef2fc;--yes:#0b6b3a;--no:#a3271b}
@media(prefers-color-scheme:dark){:root{--text:#e7eaf2;--soft:#a2abbd;--back:#12151c;--card:#1b202a;--line:#2e3644;--field:#76829a;--accent:#8fb0ff;--tint:#222a39;--yes:#7fd8a4;--no:#ff9d8f}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--back);color:var(--text);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:break-word}
a{color:var(--accent);text-underline-offset:.15em}
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.92em;overflow-wrap:anywhere}
input,button{font:inherit;min-width:0;padding:.4rem .65rem;border:1px solid var(--field);border-radius:.4rem;background:var(--card);color:var(--text)}
button,a.action{padding:.45rem 1rem;border:1px solid var(--accent);border-radius:.4rem;background:var(--accent);color:var(--card);font-weight:600;cursor:pointer;text-decoration:none}
button.quiet{background:none;color:var(--accent)}
button.danger{border-color:var(--no);background:none;color:var(--no)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:.2rem}`

/** One card in the middle of the window: a message, and what to do next. */
const CARD = `
body{min-height:100vh;display:grid;place-items:center;padding:2rem 1rem}
main{width:100%;max-width:38rem;padding:2.25rem clamp(1.25rem,6vw,2.25rem) 2rem;background:var(--card);border:1px solid var(--line);border-radius:.6rem;box-shadow:inset 0 .25rem var(--accent)}
h1{margin:0 0 .75rem;font-size:1.5rem;line-height:1.25;font-weight:650}
p,dl,ul{margin:.6rem 0 0}
li>span:not([itemprop=message]),[itemprop=failure]{display:none}
dt,.advice{color:var(--soft)}
dd{margin:0;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.92em;overflow-wrap:anywhere}
.actions{display:flex;flex-wrap:wrap;align-items:baseline;gap:.25rem 1.25rem}
a.action{display:inline-block;margin-top:.5rem}`

export interface ServerPage {
  /** Plain text. */
  title: string
  /** Markup of the body. */
  content: string
  /** Rules of this page on top of the common look. */
  style: string
  /** What the page tells of itself where it leads, other than all answers do. */
  referrer?: string
  /** Markup of attributes for `body`, such as those of a microdata item. */
  attributes?: string
}

const looking = (style: string) => `<style>${(LOOK + style).replaceAll('\n', '')}</style>`
const WITHOUT_LOOK = '<html><head>'
const WIDTH = '<meta name="viewport" content="width=device-width, initial-scale=1">'

/** @returns a complete document */
export function serverPage({ title, content, style, referrer, attributes = '' }: ServerPage): string {
  return (
    '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">' +
    WIDTH +
    (referrer === undefined ? '' : `<meta name="referrer" content="${referrer}">`) +
    `<meta name="robots" content="noindex"><title>${escapeMarkup(title)}</title>` +
    `${looking(style)}</head>\n` +
    `<body${attributes === '' ? '' : ` ${attributes}`}>${content}</body></html>\n`
  )
}

/**
 * A message on a card.
 *
 * @param title plain text
 * @param content markup, placed inside `main`
 * @param attributes markup of attributes for `body`
 * @returns a complete document
 */
export function page(title: string, content: string, attributes = ''): string {
  return serverPage({ title, content: `<main>\n${content}\n</main>`, style: CARD, attributes })
}

/**
 * The same for whoever asks. Browsers name HTML; a program shows the bytes to its user, if anything, who would have to find
 * the message among rules of style.
 *
 * @param accept the `Accept` field
 */
export function pageFor(accept: string | undefined, title: string, content: string, attributes = ''): string {
  if (namedQuality(accept, 'text/html') > 0) return page(title, content, attributes)
  return (
    `<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>${escapeMarkup(title)}</title></head>\n` +
    `<body${attributes === '' ? '' : ` ${attributes}`}>\n${content}\n</body></html>\n`
  )
}

/**
 * A document that is complete without a look: browsers get it with one. What was made with a look stays as it is.
 *
 * @param document whose `html` has no attributes, `head` comes first, and `body` is closed
 */
export function dressed(accept: string | undefined, document: string): string {
  if (namedQuality(accept, 'text/html') === 0 || !document.includes(WITHOUT_LOOK)) return document
  const looked = document.replace(
    WITHOUT_LOOK,
    () => `<html lang="en"><head><meta charset="utf-8">${WIDTH}${looking(CARD)}`,
  )
  const body = looked.indexOf('<body')
  const start = body < 0 ? 0 : looked.indexOf('>', body) + 1
  const opened = start === 0 ? looked : `${looked.slice(0, start)}<main>${looked.slice(start)}`
  return opened.replace('</body>', '</main></body>')
}
