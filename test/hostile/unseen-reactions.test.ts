/** Reactions to elements: what runs tells nothing of what the requester may not see, and no spelling goes past a guard. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { composed } from '../pipeline/compose/composing.ts'
import { answering, trigger } from '../pipeline/react/site.ts'
import { page, putAll, rulesPage } from '../support/content.ts'
import { client, type Fields } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

describe('reactions to elements of pages of which a part may be read', () => {
  let server: TestServer

  before(async () => {
    server = await startServer({ site: { defaultGet: 'deny' } })
    const body = (list: string) => `<p class="hid">secret 42</p><p class="open">{{ 1 }}</p>${list}`
    await putAll(server, {
      '/rules.html': rulesPage(
        ['*', 'GET|POST', 'Allow', '/p/*', '.open'],
        ['*', 'GET', 'Allow', '/g/*'],
        ['*', 'POST', 'Allow', '/g/*', '*'],
      ),
      '/parts.html': page('<b class="hid">in</b>'),
      '/p/plain.html': page(body('')),
      '/p/composed.html': composed(body('')),
      '/g/plain.html': page('<ul class="l"><li class="x">1</li></ul>'),
      '/g/composed.html': composed('<ul class="l"><li class="x">1</li></ul>'),
      '/g/made.html': composed('<ul class="l" p:template="text/liquid"><li class="x">{{ 1 }}</li></ul>'),
      '/g/bare.html': `${composed('').replace(/<body>.*/, '')}<ul class="l"><li class="x">1</li></ul>`,
      '/g/included.html': composed('<p:include selector=".hid" resource="/parts.html"></p:include>'),
      '/triggers.html': page(
        trigger({ resource: '/p/*', selector: '.hid', action: answering(299, 'ran') }) +
          trigger({ resource: '/g/*', selector: '.x, body, .hid', action: answering(299, 'ran') }),
      ),
    })
  })
  after(() => server.close())

  const GUESSES = [
    '.hid:contains("secret 4?"), .open',
    'p:has(:contains("4?")), .open',
    'p:contains("secret 4?"), .open',
    'body:contains("4?") > :first-child, .open',
    ':is(.hid:contains("4?"), .open)',
  ]
  const FORMS: [method: string, fields: Fields][] = [
    ['GET', {}],
    ['HEAD', {}],
    ['GET', { Accept: 'multipart/mixed' }],
    ['GET', { Accept: 'application/ld+json' }],
    ['POST', {}],
  ]
  for (const path of ['/p/plain.html', '/p/composed.html'])
    for (const guess of GUESSES)
      it(`SEC-6 REA-23 ${guess} on ${path} runs nothing by what may not be read`, async () => {
        for (const [method, fields] of FORMS) {
          const of = async (digit: string) => {
            const sent = { ...fields, Range: `selector=${guess.replace('?', digit)}` }
            return (await client(server.port)(method, path, sent, method === 'POST' ? '' : undefined)).status
          }
          expect(await of('2'), `${method} ${JSON.stringify(fields)}`).to.equal(await of('3'))
        }
      })

  const GUARDED: [path: string, selector: string, isGuarded: boolean][] = [
    ['/g/plain.html', '.x', true],
    ['/g/plain.html', 'li:contains("1")', true],
    ['/g/plain.html', 'body', true],
    ['/g/plain.html', '.l', false],
    ['/g/composed.html', '.x', true],
    ['/g/composed.html', 'ul > :first-child', true],
    ['/g/composed.html', '.l', false],
    ['/g/made.html', '.x', true],
    ['/g/made.html', 'li:contains("1")', true],
    ['/g/made.html', '.l', false],
    ['/g/bare.html', 'body', true],
    ['/g/bare.html', 'head', false],
    ['/g/included.html', '.hid', false],
  ]
  for (const [path, selector, isGuarded] of GUARDED)
    it(`REA-23 ${selector} of ${path} is ${isGuarded ? 'guarded, whatever finds it' : 'another element'}`, async () => {
      for (const [method, fields] of FORMS) {
        const sent = { ...fields, Range: `selector=${selector}` }
        const { status } = await client(server.port)(method, path, sent, method === 'POST' ? '' : undefined)
        expect(status === 299, `${method} ${JSON.stringify(fields)}: ${status}`).to.equal(isGuarded)
      }
    })
})
