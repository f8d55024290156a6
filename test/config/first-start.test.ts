import { expect } from 'chai'
import { credentialCheck } from '../../config/credentials.ts'
import { firstCredential, type KeptValues, withCredential } from '../../config/first-start.ts'
import { loadText } from './loading.ts'

function keptValues(): KeptValues & { values: Map<string, string> } {
  const values = new Map<string, string>()
  return {
    values,
    setting: async name => values.get(name),
    setSetting: async (name, value) => void values.set(name, value),
  }
}

describe('first start', () => {
  it('makes a password once, keeps its hash, and knows it at the second start', async () => {
    const kept = keptValues()
    const first = await firstCredential(kept)
    expect(first.password).to.match(/^[\w-]{19}$/)
    expect([...kept.values.values()].join()).to.not.include(first.password)
    const second = await firstCredential(kept)
    expect(second).to.deep.equal({ credential: first.credential })
    const check = credentialCheck([second.credential])
    expect((await check.basic('editor', first.password ?? ''))?.write).to.equal(true)
    expect(await check.basic('editor', 'wrong')).to.equal(undefined)
  })

  it('makes a new password when the first was lost', async () => {
    const kept = keptValues()
    const first = await firstCredential(kept)
    const renewed = await firstCredential(kept, { renew: true })
    expect(renewed.password).to.not.equal(first.password)
    const check = credentialCheck([(await firstCredential(kept)).credential])
    expect(await check.basic('editor', first.password ?? '')).to.equal(undefined)
    expect((await check.basic('editor', renewed.password ?? ''))?.user).to.equal('editor')
  })

  it('gives the credential to sites that have none', async () => {
    const { settings } = await loadText('defaults: { title: T }')
    const { credential } = await firstCredential(keptValues())
    expect(withCredential(settings, credential).sites[0]).to.deep.include({ title: 'T', credentials: [credential] })
    const own = await loadText('sites: [{ host: a, credentials: [{ user: u, password: p }] }]')
    expect(withCredential(own.settings, credential)).to.deep.equal(own.settings)
  })
})
