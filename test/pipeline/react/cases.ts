/** Many small cases on one server: each has a folder of its own, and reactions that reach nothing outside it. */

import { type OutgoingHttpHeaders, request as send } from 'node:http'
import { expect } from 'chai'
import { after, before, it } from 'mocha'
import { put } from '../../support/content.ts'
import { eventually } from '../../support/eventually.ts'
import { type Got, type Receiver, receiver } from './receiver.ts'
import { javascript, NS, page, type ReactingSite, type ReactionFields, reactingSite, trigger } from './site.ts'

/** Imports of all that code of reactions may import. */
export const IMPORTS = `@schema HTTPResponse url("${NS}/HTTPResponse"); @schema Pair url("${NS}/Pair"); @schema Site url("${NS}/1.0");`

/** Sessel that throws a response with some properties. */
export const thrown = (fields: string) => `${IMPORTS} throw new HTTPResponse { ${fields} }`
export const TEAPOT = thrown('status: 418, body: "tea"')
/** Sessel that answers 299 with what an expression gives. */
export const shows = (expression: string) => thrown(`status: 299, body: String(${expression} ?? "null")`)
/** The same two in JavaScript. */
export const jsThrown = (fields: string) =>
  javascript('action', `export default function (ctx) { throw { itemtype: "${NS}/HTTPResponse", ${fields} } }`)
export const jsShows = (expression: string) => jsThrown(`status: 299, body: String(${expression})`)

export const MAIN =
  '<main><article id="a1"><p id="p1">one</p><p id="p2">two</p></article><section id="s"><p id="p3">x</p></section></main>'
export const PAGE = page(MAIN)
const FILES: Readonly<Record<string, string | Uint8Array>> = {
  '/page.html': PAGE,
  '/b.bin': Buffer.from([1, 2, 0xff]),
  '/x.xml': '<?xml version="1.0"?><r><a id="a"/><b/></r>',
}

/** A trigger for everything in a folder. */
export const within = (folder: string, fields: ReactionFields = {}) =>
  trigger({ resource: `${folder}/*`, action: TEAPOT, ...fields })

export interface Raw {
  status: number
  headers: NodeJS.Dict<string | string[]>
  /** Names and values in turn, as they came. */
  fields: string[]
  text: string
}

/** Values of one field, as they came. */
export const valuesOf = (fields: readonly string[], name: string) =>
  fields.filter((_, i) => i % 2 === 1 && fields[i - 1]?.toLowerCase() === name)

/** @param reactions their markup; none where it is empty */
export type Case = [
  title: string,
  reactions: (folder: string) => string,
  check: (folder: string) => Promise<unknown>,
  files?: Readonly<Record<string, string | Uint8Array>>,
]

/** A request to a page of a case, and whether its trigger answers with 418. */
export type FilterCase = [
  title: string,
  fields: (folder: string) => ReactionFields,
  method: string,
  path: string,
  fires: boolean,
  headers?: OutgoingHttpHeaders,
  body?: string,
]

/**
 * Starts one server and one receiver of calls for the cases of a suite, which it must be called in.
 *
 * @param documents what the site holds beside the cases
 */
export function caseByCase(documents: Readonly<Record<string, string>> = {}) {
  const cases: Case[] = []
  let site: ReactingSite
  let to: Receiver
  before(async () => {
    to = await receiver()
    site = await reactingSite(documents, { site: { allowOutbound: true } })
    for (const [i, [, reactions, , files = {}]] of cases.entries()) {
      for (const [path, content] of Object.entries(files)) await put(site, `/c${i}${path}`, content)
      const markup = reactions(`/c${i}`)
      if (markup !== '') await put(site, `/reactions/${i}.html`, page(markup))
    }
  })
  after(async () => {
    await site?.close()
    await to?.close()
  })
  const add = (...each: Case) => {
    const folder = `/c${cases.length}`
    cases.push(each)
    it(each[0], async () => void (await each[2](folder)))
  }
  const ask = (method: string, path: string, headers: OutgoingHttpHeaders = {}, body?: string | Buffer) =>
    new Promise<Raw>((resolve, reject) => {
      const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) }
      const outgoing = send(`${site.url}${path}`, { method, headers: { ...headers, ...length } }, async answer => {
        const pieces: Buffer[] = []
        for await (const piece of answer) pieces.push(piece)
        const { statusCode: status = 0, headers, rawHeaders: fields } = answer
        resolve({ status, headers, fields, text: Buffer.concat(pieces).toString() })
      })
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  const calls = (folder: string) => to.got.filter(({ url }) => url === folder || url.startsWith(`${folder}/`))
  return {
    get site() {
      return site
    },
    get to() {
      return to
    },
    add,
    ask,
    fires(...[title, fields, method, path, fires, headers, body]: FilterCase): void {
      const [name = ''] = path.split('?')
      const file = FILES[name]
      const check = async (folder: string) => {
        const { status } = await ask(method, folder + path, headers, body)
        if (fires) expect(status).to.equal(418)
        else expect(status).not.to.equal(418)
      }
      add(title, folder => within(folder, fields(folder)), check, file === undefined ? {} : { [name]: file })
    },
    put: (path: string, content: string) => put(site, path, content),
    /** Waits for calls to a folder. */
    async arrived(folder: string, count = 1): Promise<Got[]> {
      await eventually(() => expect(calls(folder).length).to.be.at.least(count))
      return calls(folder)
    },
    /** Calls to a folder when nothing is under way any more. */
    async settled(folder: string): Promise<Got[]> {
      await eventually(() => expect(site.running.outbound.figures()).to.include({ waiting: 0, inFlight: 0 }))
      return calls(folder)
    },
  }
}
