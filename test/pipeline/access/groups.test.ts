import { expect } from 'chai'
import { describe, it } from 'mocha'
import { type GroupOracle, Membership } from '../../../pipeline/access/groups.ts'
import type { Group } from '../../../pipeline/access/rules.ts'
import { access, type Line, member, rawGroup, site, user } from './site.ts'

const PUT_BY_STAFF: Line[] = [['staff', 'PUT', 'Allow', '/a']]

/** An oracle for groups whose type is `own`; counts the questions. */
function oracle(includes: (group: Group, email: string) => Promise<boolean>): GroupOracle & { asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    overrides: group => group.subtypes.includes('own'),
    includes: (group, email) => {
      asked.push(group.name)
      return includes(group, email)
    },
  }
}

function subtyped(name: string, subtype: string, ...members: string[]) {
  return { ...rawGroup(name, ...members), subtypes: [subtype] }
}

describe('groups', () => {
  it('GRP-1 items of one name add their members', () => {
    const rules = site(PUT_BY_STAFF, [rawGroup('staff', 'a@x'), rawGroup('staff', 'b@x')])
    for (const email of ['a@x', 'b@x']) {
      expect(access(rules, { principal: member(email) }).decide('PUT', '/a'), email).to.equal('allow')
    }
    expect(access(rules, { principal: member('c@x') }).decide('PUT', '/a')).to.equal('unmatched')
  })
  it('GRP-2 exact equality, and only a verified email', () => {
    const rules = site(PUT_BY_STAFF, [rawGroup('staff', 'a@x')])
    const principals = [member('A@x'), member('a@x '), user('a@x'), user('u', { email: 'a@x' })]
    for (const principal of principals) {
      expect(access(rules, { principal }).decide('PUT', '/a')).to.equal('unmatched')
    }
  })
  it('GRP-3 a role is a group name, with or without a group, verified email or not', () => {
    const principal = user('u', { roles: ['staff'] })
    expect(access(site(PUT_BY_STAFF), { principal }).decide('PUT', '/a')).to.equal('allow')
    expect(access(site(PUT_BY_STAFF, [rawGroup('staff', 'a@x')]), { principal }).decide('PUT', '/a')).to.equal('allow')
  })
})

describe('groups that decide by themselves', () => {
  const principal = member('a@x')

  it('GRP-4 their answer counts, members do not', async () => {
    const rules = site(PUT_BY_STAFF, [subtyped('staff', 'own', 'c@x')])
    const ending = oracle(async (_, email) => email.endsWith('@x'))
    const mine = access(rules, { principal, oracle: ending })
    await mine.resolveGroups(['/a'])
    expect(mine.decide('PUT', '/a')).to.equal('allow')
    const other = access(rules, { principal: member('c@x'), oracle: oracle(async () => false) })
    await other.resolveGroups(['/a'])
    expect(other.decide('PUT', '/a')).to.equal('unmatched')
  })
  it('GRP-4 without an override the members count', async () => {
    const rules = site(PUT_BY_STAFF, [subtyped('staff', 'plain', 'a@x')])
    const nobody = oracle(async () => false)
    const mine = access(rules, { principal, oracle: nobody })
    await mine.resolveGroups(['/a'])
    expect(mine.decide('PUT', '/a')).to.equal('allow')
    expect(nobody.asked).to.deep.equal([])
  })
  it('GRP-5 a failure is no membership', async () => {
    const mine = access(site(PUT_BY_STAFF, [subtyped('staff', 'own')]), {
      principal,
      oracle: oracle(() => Promise.reject(new Error('no'))),
    })
    await mine.resolveGroups(['/a'])
    expect(mine.decide('PUT', '/a')).to.equal('unmatched')
  })
  it('GRP-5 asked at most once, and only when a rule for the path needs it', async () => {
    const yes = oracle(async () => true)
    const lines: Line[] = [...PUT_BY_STAFF, ['role:board', 'PUT', 'Allow', '/b'], ['*', 'GET', 'Allow', '/c']]
    const groups = ['staff', 'board', 'unused'].map(name => subtyped(name, 'own'))
    const mine = access(site(lines, groups), { principal, oracle: yes })
    await mine.resolveGroups(['/c'])
    expect(yes.asked).to.deep.equal([])
    await mine.resolveGroups(['/a'])
    await mine.resolveGroups(['/a', '/b'])
    expect(yes.asked).to.deep.equal(['staff', 'board'])
    expect(mine.decide('PUT', '/b')).to.equal('allow')
  })
  it('GRP-5 nobody is asked about an anonymous requester or an unverified email', async () => {
    const yes = oracle(async () => true)
    for (const requester of [{}, { principal: user('u', { email: 'a@x' }) }]) {
      const mine = access(site(PUT_BY_STAFF, [subtyped('staff', 'own')]), { ...requester, oracle: yes })
      await mine.resolveGroups(['/a'])
      expect(mine.decide('PUT', '/a')).to.equal('unmatched')
    }
    expect(yes.asked).to.deep.equal([])
  })
  it('fails closed until settled: an Allow does not match, a Deny does', () => {
    const rules = site([...PUT_BY_STAFF, ['staff', 'GET', 'Deny', '/a']], [subtyped('staff', 'own')])
    const mine = access(rules, { principal, oracle: oracle(async () => false) })
    expect(mine.decide('PUT', '/a')).to.equal('unmatched')
    expect(mine.decide('GET', '/a')).to.equal('deny')
  })
  it('GRP-6 answers are kept when the rules change during a request', async () => {
    const yes = oracle(async () => true)
    const rules = site(PUT_BY_STAFF, [subtyped('staff', 'own')])
    const membership = new Membership(principal, yes)
    const settled = access(rules, { principal, oracle: yes })
    await settled.resolveGroups(['/a'])
    const [group] = [...rules.groups()]
    await membership.resolveGroups(group ? [group] : [])
    await membership.resolveGroups(group ? [group] : [])
    expect(yes.asked).to.deep.equal(['staff', 'staff'])
    expect(membership.holds('staff', rules.withDocument('/other.html', undefined))).to.equal(true)
  })
})
