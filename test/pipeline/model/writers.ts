/** Many writers at once on a site of stations and of readings that refer to them, and what must hold afterwards. */

import { expect } from 'chai'
import { readDom } from '../../support/dom.ts'
import type { Client } from '../../support/http.ts'
import { instance, property, schema } from './markup.ts'
import { listPage } from './shelf.ts'

const STATION = 'https://tides.example/Station'
const READING = 'https://tides.example/Reading'
const STATIONS = ['/stations-0.html', '/stations-1.html', '/stations-2.html']
const LOGS = ['/log-0.html', '/log-1.html', '/log-2.html']

/** Codes are few, so that writers meet. */
const CODES = ['A', 'B', 'C', 'D', 'E']

/** Declarations, by what becomes of readings whose station goes. */
export function stationModel(cascade: 'restrict' | 'true'): string {
  return [
    schema(STATION, {}, property('code', { unique: 'true', cardinality: '1..1', '@key': 'true' })),
    schema(
      READING,
      {},
      property('station', { references: `${STATION}#code`, cascade, cardinality: '1..1' }),
      property('day', { unique: 'slot' }),
      property('hour', { unique: 'slot' }),
    ),
  ].join('\n')
}

/** A page that outlives its readings: it holds another item (MOD-54). */
function logPage(...readings: string[]): string {
  return `${listPage(...readings)}<p itemscope></p>`
}

/** The pages as they are to begin with. */
export const PAGES: Readonly<Record<string, string>> = Object.fromEntries(
  [...STATIONS, ...LOGS].map(path => [path, logPage()]),
)

/**
 * @param clients writers are spread over them
 * @param random from 0 up to and not including its argument
 */
export async function race(
  clients: readonly Client[],
  writers: number,
  writes: number,
  random: (below: number) => number,
) {
  const outcomes = new Map<string, number>()
  const one = <T>(list: readonly T[]): T => list[random(list.length)] as T
  const at = (selector: string) => ({ Range: `selector=${selector}` })
  const station = () => instance(STATION, { code: one(CODES) })
  const reading = () => instance(READING, { station: one(CODES), day: one(CODES), hour: one(CODES) })
  const kinds: Readonly<Record<string, (http: Client) => ReturnType<Client>>> = {
    'add station': http => http('POST', one(STATIONS), at('#list'), station()),
    'change station': http => http('PUT', one(STATIONS), at('#list > li'), station()),
    'remove station': http => http('DELETE', one(STATIONS), at('#list > li:last-child')),
    'add reading': http => http('POST', one(LOGS), at('#list'), reading()),
    'remove reading': http => http('DELETE', one(LOGS), at('#list > li')),
    'replace log': http => http('PUT', one(LOGS), {}, logPage(reading())),
  }
  const names = ['add station', 'add station', 'add reading', 'add reading', 'add reading', ...Object.keys(kinds)]
  const write = async (http: Client) => {
    const name = one(names)
    const { status, text } = (await kinds[name]?.(http)) ?? { status: 0, text: '' }
    expect(status, `${name}: ${text}`).to.be.oneOf([200, 204, 206, 409, 416, 422])
    const key = `${name} ${status}`
    outcomes.set(key, (outcomes.get(key) ?? 0) + 1)
  }
  await Promise.all(
    Array.from({ length: writers }, async (_, i) => {
      const http = clients[i % clients.length]
      for (let n = 0; http && n < writes; n++) await write(http)
    }),
  )
  return outcomes
}

/** MOD-40, MOD-41, MOD-51 to MOD-55: values are unique, and every reading has its station. */
export async function expectIntegrity(http: Client): Promise<{ stations: number; readings: number }> {
  const read = async (paths: readonly string[], ...names: string[]) => {
    const pages = await Promise.all(paths.map(path => http('GET', path)))
    return pages.flatMap(({ text }) =>
      [...readDom(text).querySelectorAll('li')].map(item =>
        names.map(name => item.querySelector(`[itemprop=${name}]`)?.getAttribute('content')),
      ),
    )
  }
  const codes = (await read(STATIONS, 'code')).map(String)
  const readings = await read(LOGS, 'station', 'day', 'hour')
  expect([...codes].sort(), 'codes are unique').to.deep.equal([...new Set(codes)].sort())
  const slots = readings.map(([, day, hour]) => `${day} ${hour}`)
  expect([...slots].sort(), 'slots are unique').to.deep.equal([...new Set(slots)].sort())
  for (const [code] of readings) expect(codes, 'every reading has its station').to.include(code)
  return { stations: codes.length, readings: readings.length }
}

/** Numbers that come again with the same seed (Park and Miller). */
export function seeded(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
}
