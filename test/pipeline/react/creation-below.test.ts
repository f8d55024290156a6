/** What a POST to a folder stores there is a PUT for the triggers of its path (COMP-108, REA-6). */

import { expect } from 'chai'
import { describe } from 'mocha'
import { caseByCase, IMPORTS, type Raw, shows, TEAPOT, thrown } from './cases.ts'
import { page, processor, type ReactionFields, request, trigger } from './site.ts'

describe('Creation below a folder, with reactions', () => {
  const cases = caseByCase({
    '/other.html': page('<p id="other">other</p>'),
    '/nothing.html': page(
      `<div id="declaring">${trigger({ resource: '/nothing.html', when: 'false', action: 'null' })}</div>`,
    ),
  })

  const { add, ask } = cases

  /** @param found what the new document holds; undefined where none is made */
  function creates(
    title: string,
    fields: (folder: string) => ReactionFields,
    status: number,
    found: string | undefined,
    { type = 'text/html', told = '', make = trigger, body = '<p>new</p>' } = {},
  ): void {
    add(
      `COMP-108 ${title}`,
      folder => make(fields(folder)),
      async at => {
        const posted: Raw = await ask('POST', `${at}/in/`, { 'Content-Type': type }, body)
        expect([posted.status, posted.text]).to.satisfy(
          ([got, text]: [number, string]) => got === status && text.includes(told),
        )
        const { location } = posted.headers
        const made = location === undefined ? undefined : await ask('GET', String(location))
        if (found === undefined) expect(made).to.equal(undefined)
        else expect(made?.text).to.include(found)
      },
    )
  }

  for (const type of ['text/html', 'application/octet-stream'])
    creates(
      `a trigger on the PUT ends the request: ${type}`,
      at => ({ resource: `${at}/in/*`, method: 'PUT', action: TEAPOT }),
      418,
      undefined,
      { type, told: 'tea' },
    )
  creates(
    'a response of a trigger is the answer, whatever its status',
    at => ({ resource: `${at}/in/*`, method: 'PUT', action: thrown('status: 200, body: "done"') }),
    200,
    undefined,
    { told: 'done' },
  )
  for (const [seen, value] of [
    ['method', 'PUT'],
    ['path', '/in/'],
    ['headers["content-type"]', 'text/html'],
    ['body', '<p>new</p>'],
  ] as const)
    creates(
      `a trigger sees the ${seen} of the PUT`,
      at => ({ resource: `${at}/in/*.html`, method: 'PUT', action: shows(`Context.request.${seen}`) }),
      299,
      undefined,
      { told: value },
    )
  creates(
    'a trigger may give it another body',
    at => ({ resource: `${at}/in/*.html`, action: `${IMPORTS} Site.PUT(\${#other}.first(), Context.request.path)` }),
    201,
    '<p id="other">other</p>',
  )
  creates(
    'one that has acted for the POST does not do so again',
    at => ({ resource: `${at}/in/*`, method: ['POST', 'PUT'], action: '1 / (Context.request.method.count() - 3)' }),
    201,
    '<p>new</p>',
  )
  creates(
    'nor does one whose action has changed what reactions there are (REA-5)',
    at => ({
      resource: `${at}/in/*`,
      method: ['POST', 'PUT'],
      action: `${IMPORTS} 1 / (Context.request.method.count() - 3); Site.PUT(\${#declaring}.first(), "${at}/declaring.html")`,
    }),
    201,
    '<p>new</p>',
  )
  for (const when of ['method == "PUT"', 'path.endsWith(".html")'])
    creates(
      `one that has only asked guards the PUT: ${when}`,
      at => ({ resource: `${at}/in/*`, when: `Context.request.${when}`, action: TEAPOT }),
      418,
      undefined,
      { told: 'tea' },
    )
  creates(
    'one that has not, since it is about other methods, guards the PUT',
    at => ({ resource: `${at}/in/*`, method: ['GET', 'PUT'], action: TEAPOT }),
    418,
    undefined,
    { told: 'tea' },
  )
  for (const [what, before] of [
    ['one that runs for the POST', ''],
    ['one that sees it as well', 'Context.request.body == "x"'],
  ] as const)
    creates(
      `a trigger sees a body that is large, behind ${what}`,
      at => ({ resource: `${at}/in/*`, method: 'PUT', action: shows('Context.request.body.count()') }),
      299,
      undefined,
      {
        type: 'application/octet-stream',
        told: '300000',
        body: 'x'.repeat(300_000),
        make: fields =>
          trigger({ ...fields, method: 'POST', action: before || 'Context.request.path' }) + trigger(fields),
      },
    )
  creates(
    'triggers of other paths do not run',
    at => ({ resource: `${at}/out/*`, method: 'PUT', action: TEAPOT }),
    201,
    '<p>new</p>',
  )
  creates(
    'processors see the answer to the POST alone',
    at => ({ resource: `${at}/in/*`, method: 'PUT', action: TEAPOT }),
    201,
    '<p>new</p>',
    { make: processor },
  )

  add(
    'REA-86 the calls of all triggers are stored with what the POST stores',
    folder => {
      const call = request('action', { url: `${cases.to.url}${folder}` })
      return ['POST', 'PUT'].map(method => trigger({ resource: `${folder}/in/*`, method, action: call })).join('')
    },
    async folder => {
      const { outbound } = cases.site.running
      const { record } = outbound
      let alone = 0
      outbound.record = entries => {
        alone += entries.length
        return record(entries)
      }
      expect((await ask('POST', `${folder}/in/`, { 'Content-Type': 'text/html' }, '<p>new</p>')).status).to.equal(201)
      outbound.record = record
      expect([alone, (await cases.arrived(folder, 2)).length]).to.deep.equal([0, 2])
    },
  )
  for (const [what, most, half] of [
    [
      'calls',
      'may queue 64',
      (folder: string) => Array(33).fill(request('action', { url: `${cases.to.url}${folder}` })),
    ],
    [
      'writes',
      'may write 32 times',
      (folder: string) => `${IMPORTS} ${`Site.PUT(\${#other}.first(), "${folder}/written.html"); `.repeat(17)}`,
    ],
  ] as const)
    add(
      `REA-95 the ${what} of all triggers are those of one request`,
      folder =>
        ['POST', 'PUT'].map(method => trigger({ resource: `${folder}/in/*`, method, action: half(folder) })).join(''),
      async folder => {
        const { status, text } = await ask('POST', `${folder}/in/`, { 'Content-Type': 'text/html' }, '<p>new</p>')
        expect([status, text.includes(most)]).to.deep.equal([500, true])
      },
    )
})
