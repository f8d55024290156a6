/** A document that a page makes of a POST is stored by a PUT, which the triggers of its path see (COMP-106, REA-6). */

import { expect } from 'chai'
import { describe } from 'mocha'
import { caseByCase, IMPORTS, shows, TEAPOT, thrown } from './cases.ts'
import { NS, page, processor, type ReactionFields, trigger } from './site.ts'

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }

const template = (base: string) =>
  `<!doctype html><html xmlns:p="${NS}/1.0" p:template="text/liquid"><head><title>New</title><base href="${base}"></head><body><h1>{{ request.body.title }}</h1></body></html>`

describe('Templated creation, with reactions', () => {
  const { add, ask } = caseByCase({ '/other.html': page('<p id="other">other</p>') })
  let count = 0

  /** @param expected status of the POST, and of what is found afterwards, with a part of it */
  function creates(
    title: string,
    fields: (folder: string) => ReactionFields,
    expected: [posted: number, found: number, part: string],
    make = trigger,
  ): void {
    const folder = `/c${count++}`
    add(
      `COMP-106 ${title}`,
      () => make(fields(folder)),
      async at => {
        const posted = await ask('POST', `${at}/new.html`, FORM, 'title=One')
        const found = await ask('GET', `${at}/made/a.html`)
        expect([posted.status, found.status]).to.deep.equal(expected.slice(0, 2))
        expect(posted.status === 301 ? found.text : posted.text).to.contain(expected[2])
      },
      { '/new.html': template(`${folder}/made/a.html`) },
    )
  }

  creates(
    'a trigger on the PUT ends the request',
    at => ({ resource: `${at}/made/*`, method: 'PUT', action: TEAPOT }),
    [418, 404, 'tea'],
  )
  creates(
    'a response of a trigger is the answer, whatever its status',
    at => ({ resource: `${at}/made/*`, method: 'PUT', action: thrown('status: 200, body: "done"') }),
    [200, 404, 'done'],
  )
  creates(
    'a trigger whose path is that of the template as well guards the PUT',
    at => ({ resource: `${at}/*`, when: 'Context.request.method == "PUT"', action: TEAPOT }),
    [418, 404, 'tea'],
  )
  creates('a trigger that fails is a failure', at => ({ resource: `${at}/made/*`, method: 'PUT', action: '1 / 0' }), [
    500,
    404,
    'BindingFailure',
  ])
  for (const [seen, value] of [
    ['method', 'PUT'],
    ['path', '/made/a.html'],
    ['headers["content-type"]', 'text/html'],
    ['body', '<h1>One</h1>'],
  ] as const)
    creates(
      `a trigger sees the ${seen} of the PUT`,
      at => ({ resource: `${at}/made/*`, method: 'PUT', action: shows(`Context.request.${seen}`) }),
      [299, 404, value],
    )
  creates(
    'a trigger may give it another body',
    at => ({
      resource: `${at}/made/*`,
      method: 'PUT',
      action: `${IMPORTS} Site.PUT(\${#other}.first(), Context.request.path)`,
    }),
    [301, 200, 'other'],
  )
  creates('triggers of other paths do not run', at => ({ resource: `${at}/others/*`, method: 'PUT', action: TEAPOT }), [
    301,
    200,
    '<h1>One</h1>',
  ])
  creates(
    'triggers of POST run for the template alone',
    at => ({ resource: `${at}/made/*`, method: 'POST', action: TEAPOT }),
    [301, 200, '<h1>One</h1>'],
  )
  creates(
    'processors see the answer to the POST alone',
    at => ({ resource: `${at}/made/*`, method: 'PUT', action: TEAPOT }),
    [301, 200, '<h1>One</h1>'],
    processor,
  )
})
