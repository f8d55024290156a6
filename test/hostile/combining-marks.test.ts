import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { normalForm } from '../../pipeline/tree/normal-form.ts'
import { page, put, rulesPage } from '../support/content.ts'
import { takesLess } from '../support/cost.ts'
import { client } from '../support/http.ts'
import { runsInTime } from '../support/loop-hold.ts'
import { startServer, type TestServer } from '../support/server.ts'

const MARKS = `a${'\u0301'.repeat(40_000)}${'\u0316'.repeat(40_000)}`

describe('quadratic normalisation of combining marks', () => {
  let server: TestServer

  before(async () => {
    server = await startServer()
    await put(server, '/rules.html', rulesPage(['*', 'POST', 'Allow', '/*']))
    await put(server, '/list.html', page('<ul id="list"></ul>'))
  })
  after(() => server.close())

  it('SEC-12 in an element that a visitor posts and a selector reads', async () => {
    const http = client(server.port)
    const posted = await http('POST', '/list.html', { Range: 'selector=#list' }, `<li>${MARKS}</li>`)
    expect(posted.status).to.equal(206)
    await runsInTime(async () => {
      for (const condition of ['contains("z")', 'equals("z")', 'value-contains("z")', 'less-than(3)'])
        expect((await http('GET', '/list.html', { Range: `selector=li:${condition}` })).status).to.equal(416)
    })
  })

  it('SEC-12 in user names and passwords of Basic credentials', async () => {
    const { port } = new URL(server.mountUrl)
    const name = `a${'\u0301'.repeat(2_800)}${'\u0316'.repeat(2_800)}`
    const http = client(Number(port))
    await runsInTime(async () => {
      for (const pair of [`${name}:x`, `editor:${name}`]) {
        const authorization = `Basic ${Buffer.from(pair).toString('base64')}`
        for (let i = 0; i < 4; i++)
          expect((await http('GET', '/', { Authorization: authorization })).status).to.be.oneOf([401, 429])
      }
    })
    await takesLess(20, () => normalForm(name))
  })

  it('SEC-12 in paths', async () => {
    await runsInTime(async () => {
      const path = encodeURI(`/${'\u0301'.repeat(1_000)}${'\u0316'.repeat(1_000)}`)
      expect((await client(server.port)('GET', path)).status).to.be.oneOf([400, 404, 414])
    })
  })
})
