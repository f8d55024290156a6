import { expect } from 'chai'
import { it } from 'mocha'
import { loadSettings, SettingsError } from '../../config/load.ts'
import { createLog } from '../../server/log.ts'
import { openStore } from '../../server/start.ts'

it('settings: a server that is to keep its documents in PostgreSQL does not start, and keeps them nowhere else', async () => {
  const env = { SCRIPTORIUM_POSTGRES: 'postgres://u:secret-word@db.example/site', SCRIPTORIUM_LOG_LEVEL: 'silent' }
  const { settings } = await loadSettings({ env })
  const refused = await openStore(settings, createLog(settings.log)).then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(refused).to.be.instanceOf(SettingsError)
  expect(String(refused)).to.match(/postgres: .*remove the setting/)
  expect(String(refused)).not.to.include('secret-word')
})
