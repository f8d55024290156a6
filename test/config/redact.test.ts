import { expect } from 'chai'
import { stringify } from 'yaml'
import { hideUrlPassword, hideUrlPasswords, maskSecrets, secretsOf, shownSettings } from '../../config/redact.ts'
import { loadText, problemsOf } from './loading.ts'

const SECRETS = ['plain-secret', `sha256$${'ab'.repeat(32)}`, 'client-secret', 'redis-secret', 'pg%3Asecret']

const TEXT = `
redis: rediss://cache:redis-secret@cache.example:6380/2
postgres: postgres://db:pg%3Asecret@db.example/site?sslmode=require
defaults:
  oidc: { issuer: https://id.example, clientId: site, clientSecret: client-secret }
sites:
  - host: a.example
    maxBody: 3MiB
    sessions: { idle: 90m }
    events: { bufferBytes: 1000 }
    hsts: off
    frame: [https://b.example]
    credentials:
      - { user: editor, password: plain-secret }
      - { user: ci, key: "${SECRETS[1]}" }
mount: { path: /dav }
`

describe('settings that are shown', () => {
  it('hold no secret', async () => {
    const { settings } = await loadText(TEXT)
    const shown = stringify(shownSettings(settings))
    for (const secret of [...SECRETS, 'pg:secret']) expect(shown).to.not.include(secret)
    expect(shown).to.include('rediss://cache:hidden@cache.example:6380/2')
    expect(shown).to.include('postgres://db:hidden@db.example/site?sslmode=require')
    expect(shown).to.include('user: editor')
  })

  it('can be loaded again and mean the same', async () => {
    const { settings } = await loadText(TEXT.replace(/\n {4}credentials:[\s\S]*?\nmount/, '\nmount'))
    const again = await loadText(stringify(shownSettings(settings)))
    const hidden = { ...settings.sites[0]?.oidc, clientSecret: '(hidden)' }
    expect(again.settings.sites[0]).to.deep.equal({ ...settings.sites[0], oidc: hidden })
    expect(again.settings.mount).to.deep.equal(settings.mount)
    expect(again.settings.limits).to.deep.equal(settings.limits)
  })

  it('are written as operators write them', async () => {
    const [site] = shownSettings((await loadText(TEXT)).settings).sites as Record<string, unknown>[]
    expect(site).to.deep.include({ maxBody: '3MiB', hsts: 'off', frame: ['https://b.example'] })
    expect(site?.sessions).to.deep.include({ idle: '90m', signedIn: '30d' })
    expect(site?.events).to.deep.include({ bufferBytes: 1000, retention: '10m' })
  })
})

describe('secrets in messages', () => {
  it('problems of settings never quote a secret', async () => {
    const problems = await problemsOf(
      loadText(`
redis: [redis-secret]
postgres: pg-secret
sites:
  - host: a.example
    oidc: { clientSecret: [client-secret] }
    credentials:
      - { user: a, password: [plain-secret] }
      - { user: b, key: short-secret }
`),
    )
    expect(problems).to.have.length(5)
    expect(problems.join()).to.not.match(/\w+-secret/)
  })

  it('are found in the settings and masked in any text', async () => {
    const secrets = secretsOf((await loadText(TEXT)).settings)
    expect(secrets).to.have.members([...SECRETS, 'pg:secret'])
    const text = `connect redis-secret failed for pg:secret (plain-secret)`
    expect(maskSecrets(text, secrets)).to.equal('connect (hidden) failed for (hidden) ((hidden))')
  })

  const URLS: [written: string, shown: string][] = [
    ['redis://127.0.0.1:6379/0', 'redis://127.0.0.1:6379/0'],
    ['redis://:pw@host:1', 'redis://:hidden@host:1'],
    ['redis://user:pw@a:1,b:2', 'redis://user:hidden@a:1,b:2'],
    [
      'redis+sentinel://:pw@a:1,b:2/name?sentinelPassword=pw2',
      'redis+sentinel://:hidden@a:1,b:2/name?sentinelPassword=hidden',
    ],
    ['postgres://host/db?password=x&sslmode=y', 'postgres://host/db?password=hidden&sslmode=y'],
    ['s3://id:pw@bucket/site?region=eu-1', 's3://id:hidden@bucket/site?region=eu-1'],
    ['no url', '(hidden)'],
  ]
  for (const [written, shown] of URLS) {
    it(`${written} is shown as ${shown}`, () => {
      expect(hideUrlPassword(written)).to.equal(shown)
    })
  }

  it('a password goes to the last @ before the path, as URLs have it', () => {
    for (const [text, shown] of [
      ['"redis://u:pa@ss@host:1/2"', '"redis://u:hidden@host:1/2"'],
      ['"postgres://u:p@h/a@b", "c@d"', '"postgres://u:hidden@h/a@b", "c@d"'],
    ] as const)
      expect(hideUrlPasswords(text)).to.equal(shown)
  })
})
