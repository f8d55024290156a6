/** Large documents of about 1 MB, of the shapes that are hard on selector engines. */
import { parseDocument } from '../../../../pipeline/tree/document.ts'
import type { TreeDocument } from '../../../../pipeline/tree/nodes.ts'

const html = (body: string) =>
  parseDocument('html', `<!DOCTYPE html><html><head><title>t</title></head><body>${body}</body></html>`)

/** An ordinary page: a board of 10 lists with 200 cards each, 11,400 elements. */
export function board(): TreeDocument {
  const filler = 'Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore. '
  const card = (list: number, at: number) =>
    `<article class="card ${at % 3 ? 'open' : 'done'} level-${at % 5}" id="card-${list}-${at}" itemscope itemtype="https://schema.org/Task" data-at="${at}">
      <h3 itemprop="name">Card ${at} of ${list}</h3><p itemprop="description">${filler.repeat(3)}<a href="/c/${at}">more</a></p>
      <footer class="meta"><time datetime="2026-11-${(at % 28) + 1}">day</time></footer>
    </article>`
  const list = (at: number) =>
    `<section class="list" id="list-${at}"><h2>List ${at}</h2><div class="cards">${Array.from({ length: 190 }, (_, n) => card(at, n)).join('')}</div></section>`
  return html(`<main id="board">${Array.from({ length: 10 }, (_, n) => list(n)).join('')}</main>`)
}

/** 10,000 siblings, every second one with a child. */
export function wide(): TreeDocument {
  const filler = 'x'.repeat(80)
  const pairOf = (n: number) =>
    `<p class="a b">${filler}</p><div class="a" title="${n}"><b class="c">${filler}</b></div>`
  return html(`<main>${Array.from({ length: 5_000 }, (_, n) => pairOf(n)).join('')}</main>`)
}

/** 22 towers of 500 nested elements, 11,000 in all. */
export function deep(): TreeDocument {
  const filler = 'x'.repeat(75)
  const tower = `${`<div class="a b">${filler}`.repeat(490)}<p class="c">leaf</p>${'</div>'.repeat(490)}`
  return html(tower.repeat(22))
}

/** Siblings that are deep, and depth with many siblings: 100 long families inside of each other, 11,000 elements. */
export function thicket(): TreeDocument {
  const filler = 'x'.repeat(70)
  const family = `<p class="a b">${filler}</p>`.repeat(109)
  return html(`${`<div class="a">${family}`.repeat(100)}${'</div>'.repeat(100)}`)
}

/** One parent with comments only ahead of its children, and long attribute values. */
export function heavy(): TreeDocument {
  const list = 'x '.repeat(100_000)
  return html(
    `<div title="${'a'.repeat(300_000)}" class="${list}">${'<!---->'.repeat(20_000)}${'<b>x</b>'.repeat(10_000)}</div>`,
  )
}
