import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { parse } from 'yaml'
import { loadSettings } from '../../config/load.ts'
import { siteTable } from '../../config/sites.ts'
import { databaseAddress } from '../../pipeline/store/postgres/address.ts'
import { DOCKER, composeEnvironment as environment } from '../support/compose.ts'

describe('docker', () => {
  it('compose.yaml configures one site with a mount on a host of its own', async () => {
    const env = await environment({ SITE_HOST: 'www.example.org', EDITOR_PASSWORD: 'secret' })
    const { settings, warnings, firstStart } = await loadSettings({ env })
    expect(warnings).to.deep.equal([])
    expect(firstStart).to.equal(false)
    expect(settings.trustProxy).to.equal(true)
    const table = siteTable(settings)
    expect(table.siteFor('www.example.org')?.publicUrl).to.equal('https://www.example.org')
    expect(table.mountSiteFor('dav.www.example.org')?.credentials[0]).to.deep.include({
      user: 'editor',
      password: 'secret',
    })
  })

  it('compose.yaml has two servers that share a database and a Redis, and the proxy knows both', async () => {
    const shell = { SITE_HOST: 'www.example.org', EDITOR_PASSWORD: 'secret' }
    const env = await environment(shell)
    expect(await environment(shell, 'server-2')).to.deep.equal(env)
    const { settings } = await loadSettings({ env })
    expect(settings.redis).to.equal('redis://redis:6379/0')
    expect(databaseAddress(settings.postgres ?? '')).to.deep.equal({
      url: 'postgres://scriptorium@postgres:5432/scriptorium',
      passwordFile: '/run/secrets/postgres',
    })
    expect(await readFile(new URL('Caddyfile', DOCKER), 'utf8')).to.include('server:8080 server-2:8080')
  })

  it('SEC-12 the server of the image is nobody in particular, and can become nobody else', async () => {
    const dockerfile = await readFile(new URL('Dockerfile', DOCKER), 'utf8')
    expect(dockerfile.lastIndexOf('\nUSER node\n')).to.be.above(dockerfile.lastIndexOf('\nRUN '))
    const { services } = parse(await readFile(new URL('compose.yaml', DOCKER), 'utf8'), { merge: true })
    for (const name of ['server', 'server-2'])
      expect(services[name]).to.deep.include({ cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
  })

  it('the Dockerfile sets settings that exist, and its ignore file lets in what it copies', async () => {
    const dockerfile = await readFile(new URL('Dockerfile', DOCKER), 'utf8')
    const env = Object.fromEntries(
      [...dockerfile.matchAll(/(SCRIPTORIUM_\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
    )
    const { settings, warnings } = await loadSettings({ env })
    expect(warnings).to.deep.equal([])
    expect(settings).to.deep.include({ data: '/data', listen: { host: '0.0.0.0', port: 8080 } })
    const ignored = await readFile(new URL('Dockerfile.dockerignore', DOCKER), 'utf8')
    for (const [, source] of dockerfile.matchAll(/^COPY (\w+) /gm)) expect(ignored).to.include(`\n!${source}\n`)
  })
})
