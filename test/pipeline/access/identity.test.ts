import { expect } from 'chai'
import { describe, it } from 'mocha'
import { Membership } from '../../../pipeline/access/groups.ts'
import { identityOf } from '../../../pipeline/access/identity.ts'
import { type Principal, principalFromClaims } from '../../../pipeline/access/principal.ts'
import { rawGroup, site, user } from './site.ts'

const OWN = { ...rawGroup('own'), subtypes: ['own'] }
const RULES = site([], [rawGroup('staff', 'a@x'), rawGroup('board', 'a@x'), rawGroup('no', 'b@x'), OWN])

const identity = (principal: Principal | undefined, rules = RULES) =>
  identityOf(rules, principal, new Membership(principal, { overrides: () => true, includes: async () => true }))

describe('who asks, as pages are told of it', () => {
  it('IDC-1 roles: verified email, groups, roles of the sign-in, users, without repetition', async () => {
    const claims = { sub: 'u', email: 'a@x', email_verified: true }
    const { roles } = await identity(principalFromClaims(claims, ['editor', 'staff', 'editor']))
    expect(roles).to.deep.equal(['a@x', 'board', 'own', 'staff', 'editor', 'users'])
  })
  it('IDC-1 an email that is not verified is in no list and in no group', async () => {
    const { roles } = await identity(user('u', { email: 'a@x', roles: ['r'] }))
    expect(roles).to.deep.equal(['r', 'users'])
  })
  it('IDC-2 the user name is the sub, and claims are all that came, none added', async () => {
    const claims = { sub: 'u', email: 'a@x', address: { city: 'X' }, tags: [1], email_verified: 'yes' }
    const told = await identity(principalFromClaims(claims, []))
    expect([told.username, told.claims]).to.deep.equal(['u', claims])
  })
  it('IDC-1 IDC-2 of an anonymous visitor everything is empty', async () => {
    expect(await identity(undefined)).to.deep.equal({ username: '', claims: {}, roles: [] })
  })
})
