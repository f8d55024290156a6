import { expect } from 'chai'
import { describe, it } from 'mocha'
import { foldersAlone } from '../../../pipeline/access/folder-alone.ts'
import { leavesTheLoop } from '../../support/loop-hold.ts'
import { type Line, rawGroup, site } from './site.ts'

const GROUPS = [rawGroup('editors', 'ann@example.test'), rawGroup('team-1', 'ann@example.test')]

describe('what rules and groups say that means something else', () => {
  const one = (actor: string): Line => [actor, 'PUT', 'Allow', '/a.html']
  const at = (resource: string, selector?: string): Line => ['*', 'PUT', 'Allow', resource, selector]
  const undeclared = (actor: string, name: string, meant: string) =>
    `No document declares a group ${name}, for the actor ${actor}; did you mean ${meant}?`
  const cases: [what: string, line: Line, ...told: string[]][] = [
    ['what has a meaning', one('*|users|authenticated|editors|role:editors|ann@example.test|auth0:12|user|reviewers')],
    ['a group of nearly that name', one('editor'), undeclared('editor', 'editor', 'editors')],
    ['a group of another case', one('Editors'), undeclared('Editors', 'Editors', 'editors')],
    ['a role of nearly that name', one('role:editros'), undeclared('role:editros', 'editros', 'editors')],
    ['a name that is counted', one('team-2')],
    ['words that have a meaning, nearly', one('Users'), undeclared('Users', 'Users', 'users')],
    [
      'another word for everybody',
      one('everyone'),
      'The actor everyone is the user, group or role of that name; everybody is *.',
    ],
    [
      'several in one',
      one('editors, ann@example.test'),
      'The actor editors, ann@example.test is one name: each stands in an element of its own.',
    ],
    [
      'a prefix that is none',
      one('group:editors'),
      'The actor group:editors is compared as it is written: only role: may stand before a name.',
    ],
    ['several paths in one', at('/a, /b'), 'The resource /a, /b is one path: each stands in an element of its own.'],
    ['several paths in braces', at('{/a, /b}')],
    [
      'a long path',
      at(`/a, /${'b'.repeat(200)}`),
      `The resource /a, /${'b'.repeat(95)}… is one path: each stands in an element of its own.`,
    ],
    ['a fragment', at('/a.html#b'), 'The resource /a.html#b has a query or fragment, which no path has.'],
    ['a wildcard', at('/a.htm?')],
    [
      'a lookup that finds nothing',
      at(`/u/\${request.auth.subb}/*`, `#\${request.headers.X}`),
      'The lookup request.auth.subb finds nothing in any request: it is empty.',
      'The lookup request.headers.X finds nothing in any request: it is empty.',
    ],
    [
      'lookups',
      at(`/u/\${request.auth.sub}/\${auth.claims.a.b}/\${username}/:username`, `#\${request.headers.x-a}\${query.q}`),
    ],
    [
      'a lookup without its sign',
      at('/u/{request.auth.sub}/*'),
      '/u/{request.auth.sub}/* has a lookup without its dollar sign: it is taken as it is written.',
    ],
  ]
  for (const [what, line, ...told] of cases)
    it(`RULE-13 ${what}`, () => {
      const rules = site([line], GROUPS)
      expect(rules.findings('/rules.html').map(({ reason }) => reason)).to.deep.equal(told)
    })

  it('RULE-13 GRP-1 members that are no addresses', () => {
    const rules = site(
      [],
      [rawGroup('g', 'ann@example.test', 'bob', 'mailto:eve@example.test'), rawGroup('h', 'a@b, c@d')],
    )
    expect(rules.findings('/rules.html').map(({ reason }) => reason)).to.deep.equal([
      '2 members of the group g, such as bob, are no email addresses: they are nobody.',
      'The member a@b, c@d of the group h is no email address: it is nobody.',
    ])
    const own = { ...rawGroup('own', 'example.test'), subtypes: ['https://a.example/Domain'] }
    expect(site([], [own]).findings('/rules.html')).to.deep.equal([])
  })

  it('SEC-12 folders of a Deny beside thousands of patterns leave the loop to others', async () => {
    const deny = (resource: string[]) => {
      return { position: 0, actor: ['*'], resource, method: ['GET'], selector: [], action: ['Deny'] }
    }
    const folders = Array.from({ length: 50 }, (_, i) => `/private${i}/`)
    const patterns = Array.from({ length: 5000 }, (_, i) => `/some/a${i}/*`)
    const rules = [deny(folders), deny([...patterns, '/private3/*'])]
    let told: string[] = []
    await leavesTheLoop(async () => {
      told = await foldersAlone({ ns: '', rules, groups: [] }, async () => false)
    })
    expect(told).to.have.length(49)
  })
})
