/**
 * Random requests of visitors and authors, some under way together, judged by a model: every answer is one that some order
 * of the requests explains, and so is what is there afterwards, on both surfaces. `FUZZ=<runs>` and `SEED` look further.
 */

import { expect } from 'chai'
import fc from 'fast-check'
import { after, before, describe, it } from 'mocha'
import { lockInfo } from '../dav/locks/locking.ts'
import { basic, list, outcomeOf, UNHURRIED } from '../dav/wire.ts'
import { startRedis, type TestRedis } from '../pipeline/coordination/redis-server.ts'
import { type RuleLine, rulesPage } from '../support/content.ts'
import { type Client, client, type Fields, type Received } from '../support/http.ts'
import { sharedCluster } from '../support/postgres.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { openSession } from '../support/visitors.ts'
import { type Author, type Condition, RULES, SiteModel, type Step, tagOfBytes, type Visitor } from './site-model.ts'

const RUNS = Number(process.env.FUZZ ?? 0)

const VISITORS: readonly Visitor[] = ['nobody', 'ann', 'bob']
const AUTHORS: readonly Author[] = ['editor', 'editor', 'second', 'part', 'reader']
const NAMES = ['a', 'b.html', 'c']
const PATHS = [...NAMES, ...NAMES.flatMap(name => NAMES.map(below => `${name}/${below}`))].map(path => `/${path}`)
const LIST = '<!doctype html><title>t</title><ul id="l"></ul>'

/** A step whose condition and lock are still to be chosen from what is there. */
type Plan = Step & { submits?: boolean; wish?: 'current' | 'stale' | 'some' | 'none' | undefined; which?: number }

const path = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('/b.html', '/c/b.html', '/a') },
  { weight: 2, arbitrary: fc.constantFrom(...PATHS) },
)
const page = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('/b.html', '/c/b.html') },
  { weight: 1, arbitrary: fc.constant('/a/b.html') },
)
const by = fc.constantFrom(...VISITORS)
const author = fc.constantFrom(...AUTHORS)
const wish = fc.option(fc.constantFrom('current' as const, 'stale' as const, 'some' as const, 'none' as const), {
  nil: undefined,
  freq: 2,
})
const item = fc.nat(999).map(String)
const content = fc.oneof(
  { weight: 3, arbitrary: fc.constant(LIST) },
  { weight: 1, arbitrary: fc.constantFrom('one', '<p>two') },
)
const condition = fc.constant<Condition>(undefined)
const submits = fc.boolean()
const tokens = fc.constant<string[]>([])
const overwrite = fc.boolean()
const is = <Op extends Step['op']>(...ops: Op[]) => fc.constantFrom(...ops)

const plans = fc.oneof(
  { weight: 2, arbitrary: fc.record({ by, op: is('get', 'delete'), path, condition, wish }) },
  { weight: 4, arbitrary: fc.record({ by, op: is('put'), path, content, condition, wish }) },
  { weight: 5, arbitrary: fc.record({ by, op: is('append', 'append', 'replace'), path: page, item }) },
  { weight: 1, arbitrary: fc.record({ by, op: is('cut'), path: page }) },
  { weight: 3, arbitrary: fc.record({ by, op: is('move'), from: path, to: path, overwrite }) },
  { weight: 1, arbitrary: fc.record({ by: author, op: is('dav-get'), path }) },
  { weight: 2, arbitrary: fc.record({ by: author, op: is('mkcol'), path }) },
  {
    weight: 4,
    arbitrary: fc.record({ by: author, op: is('dav-put'), path, content, condition, wish, submits, tokens }),
  },
  { weight: 2, arbitrary: fc.record({ by: author, op: is('dav-append'), path: page, item, submits, tokens }) },
  { weight: 2, arbitrary: fc.record({ by: author, op: is('dav-delete'), path, submits, tokens }) },
  {
    weight: 5,
    arbitrary: fc.record({
      by: author,
      op: is('dav-copy', 'dav-move'),
      from: path,
      to: path,
      overwrite,
      submits,
      tokens,
    }),
  },
  { weight: 3, arbitrary: fc.record({ by: author, op: is('lock'), path, deep: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ by: author, op: is('unlock'), token: fc.constant(''), path, which: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ by: fc.constant('editor' as const), op: is('rules'), rules: fc.nat(5) }) },
) as fc.Arbitrary<Plan>

const groups = fc.oneof(
  { weight: 2, arbitrary: plans.map(plan => [plan]) },
  { weight: 3, arbitrary: fc.array(plans, { minLength: 2, maxLength: 4 }) },
)

function* permutations<T>(all: readonly T[]): Generator<T[]> {
  if (all.length === 0) yield []
  for (const [i, one] of all.entries())
    for (const rest of permutations([...all.slice(0, i), ...all.slice(i + 1)])) yield [one, ...rest]
}

/** Refusals of the mount that follow from what is there, of which the first one that is found is told. */
const REFUSALS = new Set([404, 405, 409, 412, 416, 422, 423])

/** A request that is over: what was sent, what came back, and the token of the lock if it made one. */
interface Done {
  step: Step
  answer: Received
  made: string | undefined
}

/** Somebody's requests, which go to the servers in turn. */
const inTurn = (clients: readonly Client[]): Client => {
  let next = 0
  return (...request) => {
    const chosen = clients[next++ % clients.length]
    if (!chosen) throw new Error('there is no server')
    return chosen(...request)
  }
}

for (const count of [1, 2])
  describe(`${count === 1 ? 'a server' : 'two servers on PostgreSQL and Redis'} under random requests, some of them under way together`, function () {
    this.timeout(RUNS > 0 ? 0 : 300_000)
    const servers: TestServer[] = []
    let redis: TestRedis | undefined
    let runs = 0
    const visitors = new Map<Visitor, Client>()
    const authors = new Map<Author, Client>()

    before(async () => {
      const credentials = [
        { user: 'editor', password: 'editor' },
        { user: 'second', password: 'second' },
        { user: 'part', password: 'part', scope: ['/*/c/*'] },
        { user: 'reader', password: 'reader', write: false },
      ]
      const shared: Record<string, string> = {}
      if (count > 1) {
        redis = await startRedis()
        Object.assign(shared, { postgres: `${(await sharedCluster()).url}?search_path=site_model`, redis: redis.url })
      }
      const site = { credentials, defaultGet: 'allow', ...UNHURRIED }
      while (servers.length < count) servers.push(await startServer({ settings: shared, site }))
      const ports = servers.map(({ mountUrl }) => Number(new URL(mountUrl).port))
      for (const { user } of credentials)
        authors.set(user as Author, inTurn(ports.map(port => client(port, { Authorization: basic(user, user) }))))
      for (const visitor of VISITORS) {
        const cookie = await openSession(servers[0], visitor === 'nobody' ? undefined : { sub: visitor })
        visitors.set(visitor, inTurn(servers.map(({ port }) => client(port, { Cookie: cookie }))))
      }
    })
    after(async () => {
      for (const server of servers) await server.close()
      await redis?.stop()
    })

    /** A plan with what it wishes for taken from what is there. */
    function stepOf({ wish, which, submits, ...step }: Plan, model: SiteModel): Step {
      if (submits && 'tokens' in step)
        step = { ...step, tokens: model.authors.locks.filter(({ user }) => user === step.by).map(({ token }) => token) }

      if (step.op === 'unlock') {
        const lock = model.authors.locks[which ?? 0]
        return {
          ...step,
          token: lock?.token ?? 'opaquelocktoken:00000000-0000-4000-8000-000000000000',
          path: lock?.path ?? step.path,
        }
      }
      // Where nothing is, LOCK makes a draft of a document, which visitors do not see: that is for other tests.
      if (step.op === 'lock' && step.path.endsWith('.html') && !model.files.has(step.path))
        return { ...step, path: '/a' }
      if (wish === undefined || !('condition' in step)) return step
      const tag = tagOfBytes(wish === 'current' ? (model.files.get(step.path) ?? '') : 'stale')
      const chosen: Condition = wish === 'some' || wish === 'none' ? { is: wish } : { is: 'match', tag }
      return { ...step, condition: chosen }
    }

    async function send(root: string, step: Step): Promise<Received> {
      const asked = (who: Client | undefined, method: string, path: string, fields: Fields = {}, body?: string) => {
        if (!who) throw new Error('nobody asks')
        return who(method, root + path, { ...submitted, ...fields }, body)
      }
      const tokens = 'tokens' in step ? step.tokens.map(token => `(<${token}>)`) : []
      // The last list holds always, so that the tokens count and nothing else.
      const submitted = tokens.length > 0 ? { If: `${tokens.join(' ')} (Not <DAV:no-lock>)` } : {}
      const visitor = visitors.get(step.by as Visitor)
      const mount = authors.get(step.by as Author)
      const list = { Range: 'selector=#l' }
      const conditions = 'condition' in step ? fieldsOf(step.condition) : {}
      const transfer = 'to' in step ? { Destination: root + step.to, Overwrite: step.overwrite ? 'T' : 'F' } : {}
      switch (step.op) {
        case 'get':
          return asked(visitor, 'GET', step.path, conditions)
        case 'put':
          return asked(visitor, 'PUT', step.path, conditions, step.content)
        case 'delete':
          return asked(visitor, 'DELETE', step.path, conditions)
        case 'append':
          return asked(visitor, 'POST', step.path, list, `<li>${step.item}</li>`)
        case 'replace':
          return asked(visitor, 'PUT', step.path, list, `<ul id="l"><li>${step.item}</li></ul>`)
        case 'cut':
          return asked(visitor, 'DELETE', step.path, { Range: 'selector=#l > li' })
        case 'move':
          return asked(visitor, 'MOVE', step.from, transfer)
        case 'dav-get':
          return asked(mount, 'GET', step.path)
        case 'mkcol':
          return asked(mount, 'MKCOL', step.path)
        case 'dav-put':
          return asked(mount, 'PUT', step.path, conditions, step.content)
        case 'dav-append':
          return asked(mount, 'POST', step.path, list, `<li>${step.item}</li>`)
        case 'dav-delete':
          return asked(mount, 'DELETE', step.path)
        case 'dav-copy':
          return asked(mount, 'COPY', step.from, transfer)
        case 'dav-move':
          return asked(mount, 'MOVE', step.from, transfer)
        case 'lock':
          return asked(mount, 'LOCK', step.path, { Depth: step.deep ? 'infinity' : '0' }, lockInfo())
        case 'unlock':
          return asked(mount, 'UNLOCK', step.path, { 'Lock-Token': `<${step.token}>` })
        case 'rules':
          return asked(mount, 'PUT', '/rules.html', {}, rulesOf(root, step.rules))
      }
    }

    function fieldsOf(condition: Condition): Fields {
      if (condition === undefined) return {}
      if (condition.is === 'none') return { 'If-None-Match': '*' }
      return { 'If-Match': condition.is === 'some' ? '*' : condition.tag }
    }

    function rulesOf(root: string, at: number): string {
      const lines = (RULES[at] ?? []).map(
        ([actors, methods, action, path]): RuleLine => [actors, methods, action, root + path],
      )
      return rulesPage(...lines)
    }

    /** Sends a group together. */
    async function sendAll(root: string, steps: readonly Step[]): Promise<Done[]> {
      return Promise.all(
        steps.map(async step => {
          const answer = await send(root, step)
          const made =
            step.op === 'lock' ? /<(opaquelocktoken:[^>]*)>/.exec(answer.headers['lock-token'] ?? '')?.[1] : undefined
          return { step, answer, made }
        }),
      )
    }

    /** The models that explain all answers. */
    function explanations(model: SiteModel, done: readonly Done[]): { found: Map<string, SiteModel>; told: string } {
      const found = new Map<string, SiteModel>()
      const told: string[] = []
      for (const order of permutations(done)) {
        const next = model.clone()
        const wanted = order.map(({ step, made }) => next.run(step, made))
        const agrees = order.every(({ step, answer: { status } }, i) => {
          const all = [wanted[i] ?? 0].flat()
          // An author may see one half of what another one is doing, and is refused for that reason.
          const isRefused = order.length > 1 && authors.has(step.by as Author) && REFUSALS.has(status)
          return all.includes(status) || (isRefused && all.some(each => REFUSALS.has(each)))
        })
        if (agrees) found.set(next.state, next)
        told.push(
          order
            .map(({ step, answer }, i) => `${JSON.stringify(step)}: ${outcomeOf(answer)}, not ${wanted[i]}`)
            .join('\n   '),
        )
      }
      return { found, told: told.slice(0, 2).join('\nor\n   ') }
    }

    /** Where what is there differs from a model: the mount's listings and files, its locks, and what a visitor sees. */
    async function differences(root: string, model: SiteModel, visitor: Visitor): Promise<string[]> {
      const editor = authors.get('editor')
      const reader = visitors.get(visitor)
      if (!editor || !reader) throw new Error('nobody looks')
      const odd: string[] = []
      const check = (what: string, is: unknown, wanted: unknown) => {
        if (JSON.stringify(is) !== JSON.stringify(wanted))
          odd.push(`${what}: ${JSON.stringify(is)}, not ${JSON.stringify(wanted)}`)
      }
      const every = await Promise.all(
        PATHS.map(
          async path =>
            [
              path,
              await editor('GET', root + path),
              await reader('GET', root + path),
              await editor('PROPFIND', root + path, { Depth: '0' }),
            ] as const,
        ),
      )
      for (const [path, stored, seen, properties] of every) {
        const content = model.files.get(path)
        const isCollection = model.collections.has(path)
        check(
          `mount ${path}`,
          [stored.status, isCollection ? '' : stored.status === 200 ? stored.text : ''],
          [content !== undefined || isCollection ? 200 : 404, content ?? ''],
        )
        if (content !== undefined) check(`tag ${path}`, stored.headers.etag, tagOfBytes(content))
        const status = model.run({ by: visitor, op: 'get', path, condition: undefined })
        check(
          `${visitor} ${path}`,
          [seen.status, seen.status === 200 ? seen.text : ''],
          [status, status === 200 ? content : ''],
        )
        if (content === undefined && !isCollection) continue
        const tokens = Array.from(properties.text.matchAll(/opaquelocktoken:[0-9a-f-]{36}/g), ([token]) => token)
        check(
          `locks ${path}`,
          tokens.sort(),
          model.authors
            .on(path)
            .map(({ token }) => token)
            .sort(),
        )
      }
      check('rules', (await editor('GET', `${root}/rules.html`)).text, rulesOf(root, model.rules))
      for (const collection of model.collections) {
        const told = await list(editor, `${root}${collection}/`, '1', 'getetag')
        const members = [
          ...model.files.keys(),
          ...[...model.collections].filter(path => path !== '').map(path => `${path}/`),
        ].filter(
          path =>
            path.startsWith(`${collection}/`) &&
            path !== `${collection}/` &&
            !path.slice(collection.length + 1, -1).includes('/'),
        )
        const rules = collection === '' ? [`${root}/rules.html`] : []
        check(
          `members ${collection}`,
          [...told.keys()].sort(),
          [`${root}${collection}/`, ...rules, ...members.map(path => root + path)].sort(),
        )
      }
      return odd
    }

    it('HTTP-4 DAV-8 DAV-82 DAV-86 RULE-11 answers as some order of the requests explains, and holds what it answered', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(groups, { minLength: 5, maxLength: 25 }), async sequence => {
          const root = `/run-${runs++}`
          const editor = authors.get('editor')
          if (!editor) throw new Error('nobody edits')
          expect((await editor('MKCOL', root)).status).to.equal(201)
          expect((await editor('PUT', `${root}/rules.html`, {}, rulesOf(root, 0))).status).to.equal(201)
          let model = new SiteModel()
          const history: string[] = []
          for (const [at, group] of sequence.entries()) {
            const steps = group.map(plan => stepOf(plan, model))
            // Nor may what is locked go in the meantime.
            const isLocked = steps.some(
              ({ op, ...step }) => op === 'lock' && 'path' in step && step.path.endsWith('.html'),
            )
            if (isLocked) steps.splice(0, steps.length, ...steps.filter(({ op }) => !/delete|move|copy/.test(op)))
            const before = model.state
            const done = await sendAll(root, steps)
            const { found, told } = explanations(model, done)
            history.push(done.map(({ step, answer }) => `${JSON.stringify(step)}: ${answer.status}`).join('\n  with '))
            const where = () =>
              `${root} group ${at}, after\n${history.slice(0, -1).join('\n')}\nfrom\n${before}\n   ${told}\n`
            if (found.size === 0) throw new Error(`no order explains ${where()}`)
            const odd: string[] = []
            let next: SiteModel | undefined
            for (const one of found.values()) {
              const differing = await differences(root, one, VISITORS[at % 3] ?? 'nobody')
              if (differing.length === 0) next = one
              odd.push(...differing)
            }
            if (!next) throw new Error(`${odd.join('\n')}\nafter ${where()}`)
            model = next
          }
          for (const { token, path } of model.authors.locks)
            expect((await editor('UNLOCK', root + path, { 'Lock-Token': `<${token}>` })).status).to.equal(204)
          expect((await editor('DELETE', root)).status).to.equal(204)
        }),
        { numRuns: RUNS || (count === 1 ? 6 : 2), seed: Number(process.env.SEED ?? 20261123), endOnFailure: true },
      )
    })
  })
