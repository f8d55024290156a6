/** Filters, case by case (REA-21 to REA-24). */

import { expect } from 'chai'
import { describe } from 'mocha'
import { type Case, caseByCase, type FilterCase, IMPORTS, TEAPOT, within } from './cases.ts'
import { page, processor } from './site.ts'

describe('Filters, case by case', () => {
  const server = caseByCase()
  const { add, ask, fires } = server
  const filtered: FilterCase[] = [
    ['REA-21 a question mark is one character', at => ({ resource: `${at}/pag?.html` }), 'GET', '/page.html', true],
    ['REA-21 case counts', at => ({ resource: `${at}/Page.html` }), 'GET', '/page.html', false],
    ['REA-21 one of a class of characters', at => ({ resource: `${at}/[op]age.html` }), 'GET', '/page.html', true],
    ['REA-21 one of several names in braces', at => ({ resource: `${at}/{page,b}.html` }), 'GET', '/page.html', true],
    ['REA-21 /x/* matches /x as well', at => ({ resource: `${at}/x/*` }), 'GET', '/x', true],
    ['REA-21, PATH-4 the glob of a directory matches it', at => ({ resource: `${at}/` }), 'GET', '/', true],
    ['REA-21, PATH-4 a directory is matched as its index', at => ({ resource: `${at}/index.html` }), 'GET', '/', true],
    ['REA-21, PATH-4 an index is matched as its directory', at => ({ resource: `${at}/` }), 'GET', '/index.html', true],
    ['REA-21 a star in the middle crosses slashes', at => ({ resource: `${at}/*.html` }), 'GET', '/a/b/c.html', true],
    ['REA-22 one of several methods in any case', () => ({ method: ['put', 'Delete'] }), 'DELETE', '/none', true],
    ['REA-22 none of several methods', () => ({ method: ['put', 'Delete'] }), 'GET', '/none', false],
    ['REA-22 HEAD matches HEAD', () => ({ method: 'head' }), 'HEAD', '/page.html', true],
    ['REA-22 several methods in one value match none', () => ({ method: 'GET PUT' }), 'GET', '/page.html', false],
    [
      'REA-23 a filter with :has()',
      () => ({ selector: 'article:has(#p2)' }),
      'PUT',
      '/page.html',
      true,
      { Range: 'selector=#a1' },
      '<article>x</article>',
    ],
    [
      'REA-23 the first of several matches is the target',
      () => ({ selector: '#p2' }),
      'GET',
      '/page.html',
      false,
      { Range: 'selector=p' },
    ],
    [
      'REA-23 the last match of a multi-match read',
      () => ({ selector: '#p3' }),
      'GET',
      '/page.html',
      true,
      { Range: 'selector=p', Accept: 'multipart/mixed' },
    ],
    [
      'REA-23 does not fit a document that is missing',
      () => ({ selector: 'p' }),
      'GET',
      '/nope.html',
      false,
      { Range: 'selector=p' },
    ],
    ['REA-23 does not fit a blob', () => ({ selector: 'p' }), 'GET', '/b.bin', false, { Range: 'selector=p' }],
    ['REA-23 fits an element of XML', () => ({ selector: 'a' }), 'GET', '/x.xml', true, { Range: 'selector=#a' }],
    [
      'REA-23 a range of bytes is no selector',
      () => ({ selector: 'nothing' }),
      'GET',
      '/page.html',
      true,
      { Range: 'bytes=0-1' },
    ],
    [
      'REA-23 what a POST brings is not its target',
      () => ({ selector: 'b' }),
      'POST',
      '/page.html',
      false,
      { Range: 'selector=main' },
      '<b>x</b>',
    ],
    [
      'REA-23 a list of selectors fits the element of a DELETE',
      () => ({ selector: 'h1, section' }),
      'DELETE',
      '/page.html',
      true,
      { Range: 'selector=#s' },
    ],
  ]
  for (const [range, isGuarded] of [
    ['#a1', true],
    ['#a1 > p; placement=before', true],
    ['#p2; placement=after', true],
    ['#a1; placement=after', true],
    ['#p1', false],
    ['#a1 > p; placement=append', false],
    ['#s; placement=before', false],
    ['#p3; placement=after', false],
  ] as const)
    filtered.push([
      `REA-23 METH-3 a POST to ${range} ${isGuarded ? 'is' : 'is not'} one to #a1, which rules are asked about, or beside it`,
      () => ({ selector: '#a1' }),
      'POST',
      '/page.html',
      isGuarded,
      { Range: `selector=${range}` },
      '<b>x</b>',
    ])
  for (const each of filtered) fires(...each)
  const cases: Case[] = [
    [
      'REA-22 code that GET matches sees HEAD',
      at =>
        within(at, {
          method: 'GET',
          action: `${IMPORTS} throw new HTTPResponse { status: 299, header: new Pair { key: "X-M", value: Context.request.method } }`,
        }),
      async at => expect((await ask('HEAD', `${at}/x`)).headers['x-m']).to.equal('HEAD'),
    ],
    [
      'REA-23 a processor still fits when the PUT has changed the element',
      at => processor({ resource: `${at}/*`, selector: '.old', action: TEAPOT }),
      async at =>
        expect(
          (await ask('PUT', `${at}/p.html`, { Range: 'selector=#x' }, '<p id="x" class="new">n</p>')).status,
        ).to.equal(418),
      { '/p.html': page('<p id="x" class="old">o</p>') },
    ],
    [
      'REA-23 a processor does not fit what the PUT alone has made fit',
      at => processor({ resource: `${at}/*`, selector: '.new', action: TEAPOT }),
      async at =>
        expect(
          (await ask('PUT', `${at}/p.html`, { Range: 'selector=#x' }, '<p id="x" class="new">n</p>')).status,
        ).to.equal(206),
      { '/p.html': page('<p id="x" class="old">o</p>') },
    ],
  ]
  for (const each of cases) add(...each)
  const statuses: [status: string[], runs: boolean][] = [
    [['4xX'], true],
    [['40x', '404'], true],
    [['', '200'], false],
    [[' 404 '], true],
    [['0404'], false],
    [['500', '404'], true],
  ]
  for (const [status, runs] of statuses)
    add(
      `REA-24 status ${JSON.stringify(status)} ${runs ? 'fits' : 'does not fit'} a 404`,
      at => processor({ resource: `${at}/*`, status, action: TEAPOT }),
      async at => expect((await ask('GET', `${at}/no`)).status).to.equal(runs ? 418 : 404),
    )
})
