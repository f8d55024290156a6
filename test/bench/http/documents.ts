/** Documents to measure with. */

const NS = 'https://platform.example/ns'

/** Lets everybody do everything, so that what is measured is the work and not a refusal. */
export const OPEN_RULES = `<!doctype html><title>Rules</title>
<div itemscope itemtype="${NS}/AuthorizationRule"><meta itemprop="actor" content="*"><meta itemprop="resource" content="/*"><meta itemprop="method" content="*"><meta itemprop="action" content="Allow"></div>
`

/** A page of about so many bytes. */
export function page(bytes: number): string {
  let text = '<!doctype html>\n<html lang="en"><head><title>A page</title></head>\n<body><ul id="list">\n'
  for (let i = 0; text.length < bytes - 40; i++)
    text += `<li id="i${i}" class="item c${i % 7}">Item ${i} with a little text</li>\n`
  return `${text}</ul></body></html>\n`
}

/** A page with 50 items, each a few elements large. */
export function items(): string {
  const item = (i: number) =>
    `<li id="item-${i}" class="item"><h2>Item ${i}</h2><p>Some <em>text</em> about it, long enough to be real.</p><a href="/items/${i}.html">More</a></li>`
  const list = Array.from({ length: 50 }, (_, i) => item(i)).join('\n')
  return `<!doctype html>\n<html lang="en"><head><title>Items</title></head>\n<body><ul id="items">\n${list}\n</ul></body></html>\n`
}

/** One card of the board, about 2.7 KB and 28 elements. */
export function card(id: string, text: string): string {
  const line = `<li class="line"><b>Note</b> <span>${text}, and enough words to fill a card of a real board with something to read.</span></li>`
  const lines = Array.from({ length: 8 }, () => line).join('')
  return `<article class="card" id="${id}"><h3>${text}</h3><ul>${lines}</ul><p class="meta">Added by somebody</p></article>`
}

/** A board of 8 lanes and 400 cards, about 1.1 MB when its cards are. */
export function board(): string {
  const filler = 'Lorem words stand in for what people write on cards all day. '.repeat(24)
  const lanes = Array.from({ length: 8 }, (_, lane) => {
    const cards = Array.from({ length: 50 }, (_, i) =>
      card(`card-${lane}-${i}`, `Card ${lane} ${i}`).replace('Added by somebody', filler),
    )
    return `<section class="lane" id="lane-${lane}">\n${cards.join('\n')}\n</section>`
  })
  return `<!doctype html>\n<html lang="en"><head><title>Board</title></head>\n<body>\n${lanes.join('\n')}\n</body></html>\n`
}
