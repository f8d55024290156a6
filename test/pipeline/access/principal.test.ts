import { expect } from 'chai'
import { describe, it } from 'mocha'
import { principalFromClaims, refusalStatus } from '../../../pipeline/access/principal.ts'
import { user } from './site.ts'

describe('principals', () => {
  it('ACT-1 a principal is read from its claims', () => {
    const claims = { sub: 'u', email: 'a@x', email_verified: true, name: 'A', extra: [1] }
    const expected = { sub: 'u', email: 'a@x', emailVerified: true, name: 'A', roles: ['r'], claims }
    expect(principalFromClaims(claims, ['r'])).to.deep.equal(expected)
    expect(principalFromClaims({ email: 'a@x' }, [])).to.equal(undefined)
    expect(principalFromClaims({ sub: '' }, [])).to.equal(undefined)
  })
  it('ACT-2 verified is the boolean true or the text true', () => {
    const verified = [true, 'true', false, 'false', 1, 'TRUE', null, undefined, {}].map(
      email_verified => principalFromClaims({ sub: 'u', email_verified }, [])?.emailVerified,
    )
    expect(verified).to.deep.equal([true, true, ...Array(7).fill(false)])
  })
  it('DENY-1 401 for an anonymous requester, 403 for a signed-in one', () => {
    expect([refusalStatus(undefined), refusalStatus(user('u'))]).to.deep.equal([401, 403])
  })
})
