/** Random operations on a mount, judged by an oracle; afterwards tags are worked out anew from what is there (DAV-52). */

import { createHash } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import { after, before, describe, it } from 'mocha'
import { answerTag, everything, list, propertyUpdate, startWire, to, type Wire } from '../wire.ts'
import { isWorkFile, type Operation, ShelfOracle } from './shelf-oracle.ts'

/** Whether the stores of several machines are asked, in a second pass: they do not see by which address a mount is reached. */
const IS_SECOND = process.env.TEST_POSTGRES !== undefined

/** Sequences for each mount, and long ones before a restart. */
const [RUNS, KEPT] = IS_SECOND ? [Number(process.env.FUZZ ?? 5), 3] : [Number(process.env.FUZZ ?? 8), 5]

const PROPERTY = '{urn:x}mood'

/** Few names, so that operations meet: a name is a file here and a collection there, of one type and then of another. */
const ORDINARY = ['a', 'b.html', 'c.txt', 'é & ü']
/** Names of editors' work files are among them. What is renamed to one leaves its properties for a while (DAV-72). */
const WORK = ['a', 'b.html', '~$c', 'é & ü']

function operationsOn(names: readonly string[], describes: boolean): fc.Arbitrary<Operation> {
  const paths = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }).map(all => `/${all.join('/')}`)
  const content = fc.constantFrom('', '<p>one', '<!doctype html><title>t</title><p>two', 'three')
  const value = fc.option(fc.constantFrom('calm', 'bold'), { nil: undefined })
  const transfer = { from: paths, to: paths, overwrite: fc.boolean(), deep: fc.boolean() }
  return fc.oneof(
    { weight: 4, arbitrary: fc.record({ op: fc.constant('put' as const), path: paths, content }) },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('delete' as const), path: paths }) },
    { weight: 2, arbitrary: fc.record({ op: fc.constant('mkcol' as const), path: paths }) },
    { weight: 5, arbitrary: fc.record({ op: fc.constantFrom('copy' as const, 'move' as const), ...transfer }) },
    ...(describes
      ? [{ weight: 2, arbitrary: fc.record({ op: fc.constant('describe' as const), path: paths, value }) }]
      : []),
  )
}

const sha256 = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex')
const sum = (digests: string[]) =>
  (digests.reduce((all, digest) => all + BigInt(`0x${digest}`), 0n) % (1n << 256n)).toString(16).padStart(64, '0')

const MOUNTS = [
  ['under a path', operationsOn(ORDINARY, true), { settings: { mount: { path: '/edit/it' } } }],
  ['on a port', operationsOn(ORDINARY, true), {}],
  ['with work files', operationsOn(WORK, false), {}],
] as const

for (const [title, operations, options] of MOUNTS.slice(IS_SECOND ? 1 : 0)) {
  describe(`random operations on a mount ${title}`, () => {
    let wire: Wire
    let prefix: string
    let runs = 0
    before(async () => {
      wire = await startWire(options)
      prefix = new URL(wire.server.mountUrl).pathname.replace(/\/$/, '')
    })
    after(() => wire.server.close())

    /** Elsewhere things may come to their end that earlier operations have put off. */
    const everythingBelow = async (root: string) =>
      (await everything(wire.server)).filter(line => line.includes(` ${root}/`))

    /** Sends one operation. @returns the status */
    async function send(root: string, operation: Operation): Promise<number> {
      const at = (path: string) => encodeURI(prefix + root + path)
      const { dav } = wire
      if (operation.op === 'put') return (await dav('PUT', at(operation.path), {}, operation.content)).status
      if (operation.op === 'delete') return (await dav('DELETE', at(operation.path))).status
      if (operation.op === 'mkcol') return (await dav('MKCOL', at(operation.path))).status
      if (operation.op === 'describe') {
        const { path, value } = operation
        const update = propertyUpdate(value === undefined ? [PROPERTY] : [PROPERTY, value])
        return (await dav('PROPPATCH', at(path), {}, update)).status
      }
      const { op, from, overwrite, deep } = operation
      const depth = op === 'move' || deep ? 'infinity' : '0'
      const fields = to(at(operation.to), { Overwrite: overwrite ? 'T' : 'F', Depth: depth })
      return (await dav(op.toUpperCase(), at(from), fields)).status
    }

    /**
     * Compares what stands at a collection and below with the oracle, and its tags with those of DAV-52.
     *
     * @returns its stat value
     */
    async function compare(root: string, collection: string, oracle: ShelfOracle): Promise<string> {
      const at = encodeURI(`${prefix}${root}${collection}/`)
      const told = await list(wire.dav, at, '1', 'getcontenttype', 'getlastmodified', 'getcontentlength', PROPERTY)
      const place = `${prefix}${root}${collection}/`
      const within = (path: string) =>
        path.startsWith(`${collection}/`) && !path.slice(collection.length + 1).includes('/')
      const expected = [
        ...[...oracle.files.keys()].filter(within),
        ...[...oracle.collections].filter(path => path !== '' && within(path)).map(path => `${path}/`),
      ]
      expect([...told.keys()].sort()).to.deep.equal([place, ...expected.map(path => prefix + root + path)].sort())
      const lines: string[] = []
      const describedBy = (path: string) => {
        const value = oracle.properties.get(path)
        const asked = told.get(`${prefix}${root}${path}`) ?? told.get(`${prefix}${root}${path}/`)
        const shown = asked?.get(PROPERTY)
        expect(shown?.status === 200 ? shown.value : undefined, `property of ${path}`).to.equal(value)
        return value === undefined ? '0'.repeat(64) : sum([sha256(`urn:x\nmood\n${value}`)])
      }
      for (const path of expected) {
        const name = path.replace(/\/$/, '').split('/').at(-1)
        if (path.endsWith('/')) {
          lines.push(`D\t${name}\t${await compare(root, path.slice(0, -1), oracle)}\n`)
          continue
        }
        const facts = told.get(prefix + root + path)
        const { body } = await wire.dav('GET', encodeURI(prefix + root + path))
        expect(body.toString(), path).to.equal(oracle.files.get(path))
        await compareForVisitors(root + path, oracle.files.get(path) ?? '')
        const seconds = Date.parse(facts?.get('getlastmodified')?.value ?? '') / 1000
        const [size, type] = [facts?.get('getcontentlength')?.value, facts?.get('getcontenttype')?.value]
        lines.push(`F\t${name}\t${sha256(body)}\t${size}\t${type}\t${seconds}\t${describedBy(path)}\n`)
      }
      const own = describedBy(collection)
      const members = lines.length === 0 ? '0'.repeat(64) : sum(lines.map(line => sha256(line)))
      const [stat, listed] = ['0', '1'].map(depth => sha256(`${depth}\n${own}\n${members}\n`))
      expect(await answerTag(wire.dav, at, '0'), `tag of ${at}`).to.equal(`"d0-${stat}"`)
      expect(await answerTag(wire.dav, at, '1'), `tag of ${at} with members`).to.equal(`"d1-${listed}"`)
      return stat ?? ''
    }

    /** Work files are never public; what is empty may be a draft, behind which an earlier version may be served. */
    async function compareForVisitors(path: string, content: string): Promise<void> {
      const { status, text } = await wire.visitor('GET', encodeURI(path))
      if (isWorkFile(path)) expect(status, path).to.equal(404)
      else if (content !== '') expect([status, text], path).to.deep.equal([200, content])
    }

    it('DAV-8, DAV-12, DAV-34, DAV-42 to DAV-48, DAV-52, DAV-60, DAV-70 are answered and end as the oracle says', async function () {
      this.timeout(300_000)
      await fc.assert(
        fc.asyncProperty(fc.array(operations, { minLength: 5, maxLength: 25 }), async sequence => {
          const root = `/run-${runs++}`
          expect((await wire.dav('MKCOL', prefix + root)).status).to.equal(201)
          const oracle = new ShelfOracle()
          for (const operation of sequence) {
            const before = await everythingBelow(root)
            const status = await send(root, operation)
            expect(status, JSON.stringify(operation)).to.equal(oracle.run(operation))
            if (status >= 400) expect(await everythingBelow(root), 'a refusal').to.deep.equal(before)
          }
          await compare(root, '', oracle)
          expect((await wire.dav('DELETE', prefix + root)).status).to.equal(204)
        }),
        { numRuns: RUNS, seed: Number(process.env.SEED ?? 20311104) },
      )
    })

    it('DAV-52, DAV-62 are the same after a restart', async () => {
      const kept: [root: string, oracle: ShelfOracle][] = []
      for (const sequence of fc.sample(fc.array(operations, { minLength: 30, maxLength: 40 }), {
        numRuns: KEPT,
        seed: 8,
      })) {
        const root = `/run-${runs++}`
        await wire.dav('MKCOL', prefix + root)
        const oracle = new ShelfOracle()
        for (const operation of sequence) {
          oracle.run(operation)
          await send(root, operation)
        }
        kept.push([root, oracle])
      }
      const { data } = wire.server
      await wire.server.stop()
      wire = await startWire({ ...options, data })
      for (const [root, oracle] of kept) await compare(root, '', oracle)
    })
  })
}
