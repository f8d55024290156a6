/** What the log says of outbound requests, as an operator reads it: no bodies, no header values (REA-86, REA-89). */

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { runHere } from '../../server/cli/real.ts'
import { eventually } from '../../support/eventually.ts'
import { type ServerProcess, startProcess } from '../../support/process.ts'
import { type Receiver, receiver } from './receiver.ts'
import { ask, javascript, meta, NS, OPEN, page, request, sessel, trigger } from './site.ts'

/** In every body and every value of a field, of all that is asked, called and answered. */
const SECRET = 'nobody-may-log-this'
const LEFT_OUT = 'An outbound request is left out'
const FAILING = 'export default ctx => { throw new Error(ctx.request.body + ctx.request.headers["x-token"]) }'
const ITEM = 'https://library.example/Secret'

const pair = (key: string, value: string) =>
  `<div itemprop="header" itemscope itemtype="${NS}/Pair">${meta('key', key)}${value}</div>`
const fields = pair('Authorization', meta('value', `Bearer ${SECRET}`)) + pair('X-Own', sessel('value', `"${SECRET}"`))
const handler = (url: string, more = '') =>
  `<div hidden itemscope itemtype="${NS}/TransitionHandler">${meta('selector', `[itemtype='${ITEM}']`)}${meta('property', 'state')}${meta('becomes', 'on')}${more}${request('action', { url }, pair('X-Own', meta('value', SECRET)))}</div>`

const includes = (line: Record<string, unknown>, wanted: object) =>
  Object.entries(wanted).every(([name, value]) => line[name] === value)

describe('The log of a server with outbound requests', () => {
  let folder: string
  let server: ServerProcess
  let to: Receiver
  /** Path of a request, what its call is, and some of a line that the log has then. */
  const calls = (): [path: string, url: string, more: string, line: object][] => [
    ['/delivered', `${to.url}/ok`, '', { msg: 'An outbound request was delivered', status: 200 }],
    ['/failed', `${to.url}/fails`, '', { msg: 'An outbound request has failed', failure: 'status 500' }],
    ['/again', `${to.url}/fails`, meta('retry', '4'), { msg: 'An outbound request is sent again later' }],
    ['/closed', 'http://127.0.0.1:1/', '', { failure: 'ECONNREFUSED' }],
    ['/refused', 'http://169.254.169.254/', '', { failure: 'the host has an address that may not be called' }],
    [
      '/credentials',
      `http://user:${SECRET}@127.0.0.1/`,
      '',
      { path: '/credentials', reason: 'the url has credentials' },
    ],
    ['/method', `${to.url}/ok`, sessel('method', `"${SECRET}"`), { path: '/method', msg: LEFT_OUT }],
    ['/field', `${to.url}/ok`, pair(`${SECRET} x`, meta('value', `${SECRET}\n`)), { path: '/field', status: 201 }],
    ['/broken', `${to.url}/ok`, sessel('method', 'Context.request.body / 2'), { path: '/broken', status: 500 }],
    ['/script', `${to.url}/ok`, javascript('method', FAILING), { path: '/script', status: 500 }],
    ['/own', '/inner', '', { path: '/inner', status: 500 }],
  ]
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scriptorium-calls-'))
    to = await receiver((_, response, { url }) =>
      response.writeHead(url === '/fails' ? 500 : 200, { 'X-Answer': SECRET }).end(SECRET),
    )
    const settings = {
      data: join(folder, 'data'),
      log: { level: 'trace' },
      sites: [{ host: '*', name: 'localhost', allowOutbound: true }],
    }
    const files = join(folder, 'files')
    const config = join(folder, 'settings.json')
    await mkdir(files)
    await writeFile(config, JSON.stringify(settings))
    await writeFile(join(files, 'rules.html'), OPEN)
    const triggers = calls().map(([resource, url, more]) =>
      trigger({ resource, action: request('action', { ...(url && { url }), body: SECRET }, fields + more) }),
    )
    const handlers = [
      handler(`${to.url}/ok`),
      handler(`${to.url}/fails`),
      handler(`http://user:${SECRET}@127.0.0.1/`),
      handler(`${to.url}/ok`, sessel('when', 'throw self.body.text')),
      handler(`${to.url}/ok`, sessel('when', 'self.body.text / 2')),
      handler(`${to.url}/ok`, sessel('when', 'self.body.text.nothing()')),
    ]
    const inner = trigger({ resource: '/inner', action: sessel('action', 'throw Context.request.body') })
    await writeFile(join(files, 'reactions.html'), page(triggers.join('') + handlers.join('') + inner))
    const imported = await runHere(['import', '-c', config, '--site', 'localhost', files], folder)
    expect(imported.code, imported.output).to.equal(0)
    server = await startProcess(folder, settings)
  })
  after(async () => {
    await server?.stop()
    await to?.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('REA-86, REA-89 no line has a body, or the value of a field', async () => {
    const origin = `http://127.0.0.1:${server.port}`
    for (const [path] of calls())
      await ask(origin, 'PUT', `${path}?${SECRET}`, { headers: { 'X-Token': SECRET, Cookie: SECRET }, body: SECRET })
    const item = page(
      `<div itemscope itemtype="${ITEM}"><b itemprop="state">on</b><i itemprop="text">${SECRET}</i></div>`,
    )
    expect((await ask(origin, 'PUT', '/item.html', { body: item })).status).to.equal(201)
    await eventually(() => {
      const lines = server
        .output()
        .split('\n')
        .flatMap(line => (line.startsWith('{') ? [JSON.parse(line)] : []))
      const said = (wanted: object) => lines.filter(line => includes(line, wanted)).length
      for (const [path, , , line] of calls()) expect(said(line), path).to.be.at.least(1)
      for (const place of [9, 10])
        expect(
          said({ msg: 'A reaction has failed', document: '/reactions.html', kind: 'trigger', place, variant: 'threw' }),
          String(place),
        ).to.equal(1)
      expect(said({ msg: 'The gate of a transition handler has failed' })).to.equal(3)
      expect(said({ msg: 'A transition is not delivered' })).to.equal(1)
    })
    expect(server.everything()).not.to.include(SECRET)
  })
})
