import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AccessRules } from '../../../pipeline/access/access-rules.ts'
import type { GroupOracle } from '../../../pipeline/access/groups.ts'
import { principalFromClaims } from '../../../pipeline/access/principal.ts'
import { rulesAuthority } from '../../../pipeline/site/rules-authority.ts'
import type { Site } from '../../../pipeline/site/site.ts'
import type { HostedSite } from '../../../server/hosting.ts'

const NS = 'https://t.example/ns'
const PATH = '/circle/a.html'

/** A group whose type decides by itself may read and write below `/circle/`, everybody else may not. */
function rules(): AccessRules {
  const common = { selector: [], resource: ['/circle/*'], method: ['*'] }
  return AccessRules.empty(NS).withDocument('/rules.html', {
    ns: NS,
    rules: [
      { ...common, position: 1, actor: ['*'], action: ['Deny'] },
      { ...common, position: 2, actor: ['circle'], action: ['Allow'] },
    ],
    groups: [
      { position: 3, name: 'circle', subtypes: ['https://t.example/Domain'], members: [] },
      { position: 4, name: 'unnamed', subtypes: ['https://t.example/Domain'], members: [] },
    ],
  })
}

describe('groups that decide by themselves', () => {
  /** What a requester may do once groups are settled, and who was asked. */
  async function ask(
    method: string,
    includes: GroupOracle['includes'],
    claims: Record<string, unknown> | undefined = { sub: 'u', email: 'a@t.example', email_verified: true },
    change?: (site: { rules: AccessRules }) => void,
  ): Promise<{ permitted: boolean; asked: string[] }> {
    const asked: string[] = []
    const groups: GroupOracle = {
      overrides: () => true,
      includes(group, email, asking) {
        asked.push(`${group.name} ${email}`)
        return includes(group, email, asking)
      },
    }
    const principal = principalFromClaims(claims, [])
    const site = { rules: rules(), settings: { defaultGet: 'deny' as const }, inStep: () => undefined }
    const hosted = { site: site as unknown as Site, groups } as HostedSite
    const facts = { method, path: PATH, headers: () => undefined, queryString: '' }
    const authority = rulesAuthority(hosted.site, { facts, ...(principal && { principal }) }, groups)
    for (let i = 0; i < 2; i++) await authority.settle?.([PATH])
    change?.(site)
    return { permitted: authority().access.permit(method, PATH), asked }
  }

  it('GRP-4 are asked with the verified email before anything is decided, once a request, where a rule names them', async () => {
    expect(await ask('GET', async () => true)).to.deep.equal({ permitted: true, asked: ['circle a@t.example'] })
    expect((await ask('GET', async () => false)).permitted).to.equal(false)
  })

  it('GRP-5 a failure is no membership, and never fails the request', async () => {
    expect((await ask('GET', () => Promise.reject(new Error('broken')))).permitted).to.equal(false)
  })

  it('GRP-2 nobody without a verified email is asked about', async () => {
    for (const claims of [{ sub: 'u', email: 'a@t.example' }, { sub: 'u' }, { email: 'a@t.example' }]) {
      expect(await ask('GET', async () => true, claims)).to.deep.equal({ permitted: false, asked: [] })
    }
  })

  it('DEC-6 answers hold for the request, also when other rules change meanwhile', async () => {
    const { permitted } = await ask(
      'PUT',
      async () => true,
      undefined,
      site => {
        site.rules = site.rules.withDocument('/other.html', { ns: NS, rules: [], groups: [] })
      },
    )
    expect(permitted).to.equal(true)
  })
})
