import { expect } from 'chai'
import { describe, it } from 'mocha'
import { loadSettings } from '../../config/load.ts'
import { databaseAddress } from '../../pipeline/store/postgres/address.ts'
import { createLog } from '../../server/log.ts'
import { openStore } from '../../server/open-store.ts'
import { freePort } from '../support/ports.ts'

describe('settings: documents in PostgreSQL', () => {
  const base = 'postgres://u:p@db.example:5433/site'
  for (const [name, written, expected] of [
    ['alone', base, { url: base }],
    ['with parameters of libpq', `${base}?sslmode=verify-full`, { url: `${base}?sslmode=verify-full` }],
    [
      'with a file for the password',
      `${base}?passwordFile=/run/secrets/db`,
      { url: base, passwordFile: '/run/secrets/db' },
    ],
    [
      'with everything',
      `${base}?search_path=one&connections=8&host=%2Fvar%2Frun`,
      { url: `${base}?host=%2Fvar%2Frun`, schema: 'one', connections: 8 },
    ],
    [
      'with several hosts',
      'postgres://u:p@one:5432,two/site?target_session_attrs=read-write&connections=8',
      { url: 'postgres://u:p@one:5432/site', others: ['postgres://u:p@two/site'], connections: 8 },
    ],
    ['of which one is none', 'postgres://u@one,/site', undefined],
    ['of replicas', 'postgres://u@one,two/site?target_session_attrs=standby', undefined],
    ['with no number of connections', `${base}?connections=many`, undefined],
    ['with too many connections', `${base}?connections=1000`, undefined],
    ['of another service', 'mysql://u@db.example/site', undefined],
    ['that is none', 'db.example', undefined],
  ] as const) {
    it(`an address ${name}`, () => {
      expect(databaseAddress(written)).to.deep.equal(expected)
    })
  }

  it('a server whose database is away does not start, says which, and keeps documents nowhere else', async () => {
    const address = `postgres://u:secret-word@127.0.0.1:${await freePort()}/site`
    const env = { SCRIPTORIUM_POSTGRES: address, SCRIPTORIUM_LOG_LEVEL: 'silent' }
    const { settings } = await loadSettings({ env })
    const refused = await openStore(settings, createLog(settings.log)).then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(refused).to.have.property('name', 'Unusable')
    expect(String(refused)).to.match(/the database 127\.0\.0\.1:\d+\/site cannot be used/)
    expect(String(refused)).not.to.include('secret-word')
  })
})
