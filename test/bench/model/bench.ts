/** What checking costs: the same writes with and without a data model, with 10,000 items in 1,000 documents around them. */

import { fullAuthority } from '../../../pipeline/authority.ts'
import { memoryBody } from '../../../pipeline/body.ts'
import { noCode } from '../../../pipeline/model/code.ts'
import { perform } from '../../../pipeline/operation.ts'
import { writeElement } from '../../../pipeline/write/element.ts'
import { type HostedSite, openHosted } from '../../pipeline/model/hosted.ts'
import { enumeration, instance, primitive, property, schema, shape } from '../../pipeline/model/markup.ts'
import { page } from '../../support/content.ts'
import type { Row } from '../support/table.ts'

const DOCUMENTS = 1_000
const ITEMS = 10
const WRITES = 600

const READING = 'https://tides.example/Reading'
const STATION = 'https://tides.example/Station'
const STATE = 'https://tides.example/State'

const MODEL = page(
  [
    schema(STATION, {}, property('code', { unique: 'true', '@key': 'true' })),
    schema(
      READING,
      {},
      property('id', { unique: 'true', cardinality: '1..1' }),
      property('station', { references: `${STATION}#code`, cascade: 'restrict', cardinality: '1..1' }),
      property('height', { type: primitive('Number') }),
      property('state', { type: STATE, cardinality: '1..1' }),
      property('day', { type: primitive('Date'), unique: 'slot' }),
      property('hour', { type: primitive('Integer'), unique: 'slot' }),
    ),
    enumeration(STATE, 'raw', 'checked'),
    shape({
      resource: '/log/*',
      selector: 'ul#list',
      permit: ['li[itemscope][itemtype]', 'meta[itemprop][content]', '#list'],
    }),
  ].join('\n'),
)

const CODES = Array.from({ length: 100 }, (_, i) => `S${i}`)

function reading(id: string, n: number): string {
  return instance(READING, {
    id,
    station: CODES[n % CODES.length] ?? '',
    height: String(n / 100),
    state: 'raw',
    day: new Date(n * 86_400_000).toISOString().slice(0, 10),
    hour: String(n % 24),
  })
}

/** A site full of items, with a data model or without. */
export async function fullSite(modelled: boolean, documents = DOCUMENTS): Promise<HostedSite> {
  const hosted = await openHosted(noCode)
  const stations = CODES.map(code => instance(STATION, { code })).join('\n')
  await hosted.put('/stations.html', page(`<ul>${stations}</ul>`))
  const one = async (d: number) => {
    const items = Array.from({ length: ITEMS }, (_, i) => reading(`r${d}-${i}`, d * ITEMS + i))
    await hosted.put(`/log/${d}.html`, page(`<ul id="list">\n${items.join('\n')}\n</ul>`))
  }
  for (let d = 0; d < documents; d += 50)
    await Promise.all(Array.from({ length: Math.min(50, documents - d) }, (_, i) => one(d + i)))
  if (modelled) await hosted.put('/model.html', MODEL)
  return hosted
}

/** Replaces the first item of a document; milliseconds. */
export async function oneWrite({ site }: HostedSite, n: number, documents = DOCUMENTS): Promise<number> {
  const d = (n * 7) % documents
  const item = reading(`w${n}`, 1_000_000 + n)
  const range = { unit: 'selector', selector: 'li', wire: 'li' } as const
  const start = performance.now()
  const write = { path: `/log/${d}.html`, op: 'put', range, conditions: undefined, cause: {} } as const
  await perform(
    writeElement(site, write, () => fullAuthority),
    memoryBody(Buffer.from(item)),
  )
  return performance.now() - start
}

/** Writes per second of several writers at once. */
async function throughput(hosted: HostedSite, writers: number, from: number): Promise<number> {
  let next = from
  const end = from + WRITES
  const start = performance.now()
  await Promise.all(
    Array.from({ length: writers }, async () => {
      while (next < end) await oneWrite(hosted, next++)
    }),
  )
  return WRITES / ((performance.now() - start) / 1000)
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? 0
}

export const MODEL_HEAD: Row = ['PUT of an item', 'unchecked', 'checked', 'ratio']

export async function benchModel(say: (line: string) => void): Promise<Row[]> {
  say(`storing ${DOCUMENTS * ITEMS} items twice`)
  const [plain, checked] = [await fullSite(false), await fullSite(true)]
  try {
    for (let n = 0; n < 200; n++) for (const site of [plain, checked]) await oneWrite(site, n)
    const times: [number[], number[]] = [[], []]
    for (let n = 200; n < 200 + WRITES; n++) {
      times[0].push(await oneWrite(plain, n))
      times[1].push(await oneWrite(checked, n))
    }
    const [alone, judged] = times.map(median) as [number, number]
    say('16 writers at once')
    const [many, manyJudged] = [await throughput(plain, 16, 2_000), await throughput(checked, 16, 2_000)]
    return [
      ['one writer, median', `${alone.toFixed(2)} ms`, `${judged.toFixed(2)} ms`, (judged / alone).toFixed(2)],
      ['16 writers', `${many.toFixed(0)}/s`, `${manyJudged.toFixed(0)}/s`, (many / manyJudged).toFixed(2)],
    ]
  } finally {
    await plain.close()
    await checked.close()
  }
}
