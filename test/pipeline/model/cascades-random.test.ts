import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { fullAuthority } from '../../../pipeline/authority.ts'
import { memoryBody, NO_BODY } from '../../../pipeline/body.ts'
import { Fault } from '../../../pipeline/fault.ts'
import { noCode } from '../../../pipeline/model/code.ts'
import { perform } from '../../../pipeline/operation.ts'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { attribute } from '../../../pipeline/tree/nodes.ts'
import { compileSelector, selectAll } from '../../../pipeline/tree/selector/selector.ts'
import { deleteDocument } from '../../../pipeline/write/document.ts'
import { type ElementWrite, writeElement } from '../../../pipeline/write/element.ts'
import { page } from '../../support/content.ts'
import { openTemporary } from '../store/fixture.ts'
import { type HostedSite, openHosted } from './hosted.ts'
import { instance, property, schema } from './markup.ts'
import { completed, type ItemModel, type Model } from './oracle.ts'
import { follow, type Shelves, type WriteModel } from './oracle-cascades.ts'
import { listPage } from './shelf.ts'

const TYPES = ['x:a', 'x:b', 'x:c']
const PATHS = ['/0.html', '/1.html', '/2.html']
const VALUES = ['1', '2', '3']
const CARDINALITIES = ['0..1', '1..1', '0..n', '1..n', undefined, undefined]

/** Every type has an `id` that can be referred to; some refer to others. */
const reference = fc.record({
  cardinality: fc.constantFrom(...CARDINALITIES),
  references: fc.constantFrom(...TYPES.map(type => `${type}#id`)),
  cascade: fc.constantFrom('true', 'true', 'true', 'restrict', 'false', undefined),
  default: fc.constantFrom(undefined, undefined, undefined, '1'),
  unique: fc.constantFrom<string[]>([], [], [], [], [], ['true'], ['g']),
  group: fc.constant([]),
})
const schemaModel = (type: string) =>
  fc.record({
    type: fc.constant(type),
    parent: fc.constantFrom(undefined, undefined, ...TYPES.filter(other => other > type)),
    properties: fc
      .tuple(
        fc.record({
          name: fc.constant('id'),
          cardinality: fc.constantFrom('0..1', '0..n', undefined),
          unique: fc.constantFrom(['true'], ['true', 'g']),
          group: fc.constant([]),
        }),
        reference,
        fc.option(reference, { nil: undefined }),
      )
      .map(([id, p, q]) => [id, { name: 'p', ...p }, ...(q ? [{ name: 'q', ...q }] : [])]),
    constraints: fc.constant([]),
  })
const model: fc.Arbitrary<Model> = fc
  .tuple(...TYPES.map(schemaModel))
  .map(schemas => ({ schemas, enums: {} }) as unknown as Model)

/** Most items have an id that may be free, and refer to what may be there. */
const item: fc.Arbitrary<ItemModel> = fc
  .tuple(
    fc.constantFrom(...TYPES),
    fc.array(fc.constantFrom('1', '4', '5', '6', '7'), { maxLength: 1 }),
    fc.array(fc.tuple(fc.constantFrom('p', 'q'), fc.constantFrom(...VALUES)), { maxLength: 3 }),
  )
  .map(([type, ids, values]) => ({
    types: [type],
    values: [...ids.map((id): [string, string] => ['id', id]), ...values],
  }))

const command = (...ops: ('put' | 'append' | 'replace' | 'remove' | 'delete')[]) =>
  fc.record({
    op: fc.constantFrom(...ops),
    path: fc.constantFrom('/0.html', ...PATHS),
    items: fc.array(item, { minLength: 1, maxLength: 2 }),
    at: fc.nat({ max: 8 }),
  })
type Command = ReturnType<typeof command> extends fc.Arbitrary<infer T> ? T : never

/** First items that refer to others come, then things go and change. */
const commands = fc
  .tuple(
    fc.array(command('append', 'append', 'append', 'put'), { minLength: 4, maxLength: 12 }),
    fc.array(command('replace', 'replace', 'remove', 'remove', 'append', 'put', 'delete'), {
      minLength: 4,
      maxLength: 10,
    }),
  )
  .map(lists => lists.flat())

/** Something to refer to: an item of each type for each value, and each refers to others. */
const FIRST: Command = {
  op: 'put',
  path: '/0.html',
  items: TYPES.flatMap(type =>
    VALUES.map(
      (id): ItemModel => ({
        types: [type],
        values: [
          ['id', id],
          ['p', id],
          ['q', id],
        ],
      }),
    ),
  ),
  at: 0,
}

function toMarkup({ schemas }: Model): string {
  return page(
    schemas
      .map(({ type, parent, properties }) =>
        schema(type, { parent }, ...properties.map(({ name, group: _, ...more }) => property(name, { ...more }))),
      )
      .join('\n'),
  )
}

const itemMarkup = ({ types: [type = ''], values }: ItemModel) => {
  const fields: Record<string, string[]> = {}
  for (const [name, value] of values) (fields[name] ??= []).push(String(value))
  return instance(type, fields)
}

/** MOD-55: the only item of a type on both sides of a whole write is the same. */
function lonePairs(before: readonly ItemModel[], after: readonly ItemModel[]): WriteModel['pairs'] {
  return TYPES.flatMap(type => {
    const [old, ...more] = before.filter(({ types }) => types.includes(type))
    const [now, ...others] = after.filter(({ types }) => types.includes(type))
    return old && now && more.length + others.length === 0 ? [[old, now] as [ItemModel, ItemModel]] : []
  })
}

/** Pages to append to. */
const EMPTY = PATHS.slice(1).map((path): Command => ({ op: 'put', path, items: [], at: 0 }))

/** The write in the oracle's terms; undefined where there is nothing to write to. */
function modelled(declared: Model, state: Shelves, { op, path, items: [first, ...rest], at }: Command) {
  const before = state.get(path)
  const full = (each: ItemModel) => completed(declared, each)
  if (op === 'put' || !first) {
    const items = [first, ...rest].flatMap(each => (each ? [full(each)] : []))
    return { path, items, written: items, pairs: lonePairs(before ?? [], items) }
  }
  if (!before) return undefined
  if (op === 'delete') return { path, items: undefined, written: [], pairs: [] }
  const added = full(first)
  if (op === 'append') return { path, items: [...before, added], written: [added], pairs: [] }
  const old = before[at]
  if (!old) return undefined
  if (op === 'remove') return { path, items: before.filter(each => each !== old), written: [], pairs: [] }
  const items = before.map(each => (each === old ? added : each))
  return { path, items, written: [added], pairs: [[old, added]] as WriteModel['pairs'] }
}

async function carriedOut({ site, put }: HostedSite, { op, path, items, at }: Command): Promise<void> {
  const [first] = items
  if (op === 'put' || !first) return put(path, listPage(...items.map(itemMarkup)))
  const common = { path, conditions: undefined, cause: {} }
  if (op === 'delete') {
    await perform(
      deleteDocument(site, common, () => fullAuthority),
      NO_BODY,
    )
    return
  }
  const write = async (asked: ElementWrite) => {
    const operation = writeElement(site, asked, () => fullAuthority)
    await perform(operation, memoryBody(Buffer.from(itemMarkup(first))))
  }
  const select = (selector: string) => ({ unit: 'selector', selector, wire: selector }) as const
  const nth = select(`#list > li:nth-of-type(${at + 1})`)
  if (op === 'append') await write({ ...common, op: 'post', range: select('#list'), placement: 'append' })
  else if (op === 'remove') await write({ ...common, op: 'delete', range: nth })
  else await write({ ...common, op: 'put', range: nth })
}

const ITEMS = compileSelector('#list > li')
const METAS = compileSelector('meta')

/** What is stored, in the oracle's terms. A document without items is as good as none. */
async function stored({ text, site }: HostedSite): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const path of PATHS) {
    if (!(await site.find(path))) continue
    const document = parseDocument('html', await text(path))
    const items = selectAll(ITEMS, document)
    if (items.length === 0) continue
    found[path] = items.map(element => {
      const values = selectAll(METAS, document, element).map(
        each => `${attribute(each, 'itemprop')}=${attribute(each, 'content')}`,
      )
      return `${attribute(element, 'itemtype')} ${values.sort().join(' ')}`
    })
  }
  return found
}

function inWords(state: Shelves): Record<string, string[]> {
  return Object.fromEntries(
    [...state]
      .filter(([, items]) => items.length > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, items]) => [
        path,
        items.map(
          ({ types, values }) =>
            `${types.join()} ${values
              .map(([n, v]) => `${n}=${v}`)
              .sort()
              .join(' ')}`,
        ),
      ]),
  )
}

describe('Referential actions against an oracle', () => {
  it('MOD-50 to MOD-56: generated models let go, follow and refuse as the specification says', async function () {
    this.timeout(300_000)
    const opened = await openTemporary()
    let sites = 0
    const seen = { stored: 0, refused: 0, conflict: 0, followed: 0 }
    await fc.assert(
      fc.asyncProperty(model, commands, async (declared, writes) => {
        const hosted = await openHosted(noCode, { store: opened.store, name: `s${++sites}.example` })
        await hosted.put('/model.html', toMarkup(declared))
        let state: Shelves = new Map()
        const told: string[] = []
        for (const each of [FIRST, ...EMPTY, ...writes]) {
          const write = modelled(declared, state, each)
          if (!write) continue
          const expected = follow(declared, state, write)
          const status = await carriedOut(hosted, each).then(
            () => 200,
            error => {
              if (!(error instanceof Fault)) throw error
              return error.status
            },
          )
          told.push(`${each.op} ${each.path} ${each.at} ${each.items.map(itemMarkup)} ${status}`)
          const answer = expected instanceof Map ? 200 : expected === 'conflict' ? 409 : 422
          expect(status, told.join('\n')).to.equal(answer)
          if (expected instanceof Map) {
            const alone = new Map(state)
            if (write.items) alone.set(write.path, write.items)
            else alone.delete(write.path)
            if (JSON.stringify(inWords(alone)) !== JSON.stringify(inWords(expected))) seen.followed++
            state = expected
            seen.stored++
          } else if (expected === 'conflict') seen.conflict++
          else seen.refused++
          expect(await stored(hosted), told.join('\n')).to.deep.equal(inWords(state))
        }
      }),
      { numRuns: Number(process.env.FUZZ ?? 40), seed: Number(process.env.SEED ?? 20311104) },
    )
    await opened.close()
    if (process.env.FUZZ) console.log(seen)
    for (const [step, count] of Object.entries(seen)) expect(count, step).to.be.greaterThan(5)
  })
})
