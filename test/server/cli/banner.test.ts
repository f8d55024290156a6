import { expect } from 'chai'
import type { MountPlace, Settings } from '../../../config/schema.ts'
import { banner } from '../../../server/cli/banner.ts'
import { progressLine } from '../../../server/cli/progress.ts'
import { loadText } from '../../config/loading.ts'
import { collector } from './terminal.ts'

async function settingsWith(mount: MountPlace): Promise<Settings> {
  return (await loadText(JSON.stringify({ data: '/srv', mount }), {}, 'a.json')).settings
}

describe('what is said at the start', () => {
  const CASES: [mount: MountPlace, publicOrigin: string, mountOrigin: string | undefined, ready: string][] = [
    [
      { port: 0 },
      'http://localhost:8080',
      'http://localhost:8081',
      'ready: site http://localhost:8080/ mount http://localhost:8081/',
    ],
    [
      { path: '/-platform/dav' },
      'http://localhost:8080',
      undefined,
      'ready: site http://localhost:8080/ mount http://localhost:8080/-platform/dav/',
    ],
    [
      { host: 'dav.{host}' },
      'https://a.example',
      undefined,
      'ready: site https://a.example/ mount https://dav.a.example/',
    ],
    [
      { host: 'dav.{host}' },
      'http://localhost:81',
      undefined,
      'ready: site http://localhost:81/ mount http://dav.localhost:81/',
    ],
  ]
  for (const [mount, publicOrigin, mountOrigin, ready] of CASES) {
    it(ready, async () => {
      const lines = banner({ settings: await settingsWith(mount), publicOrigin, mountOrigin, firstStart: false })
      expect(lines.filter(line => line.startsWith('ready'))).to.deep.equal([ready])
      expect(lines.at(-1)).to.equal(ready)
      for (const line of lines) expect(line).to.not.include('\n')
    })
  }

  it('tells how to mount, and the first password exactly once', async () => {
    const settings = await settingsWith({ port: 0 })
    const origins = { publicOrigin: 'http://localhost:1', mountOrigin: 'http://localhost:2' }
    const first = banner({
      settings,
      ...origins,
      firstStart: true,
      firstPassword: { user: 'editor', password: 'pw-1' },
    })
    expect(first.filter(line => line.includes('pw-1'))).to.deep.equal(['  User editor, password pw-1'])
    for (const word of ['Finder', 'Explorer', 'davfs']) expect(first.join('\n')).to.include(word)
    const later = banner({ settings, ...origins, firstStart: true }).join('\n')
    expect(later).to.include('--new-password').and.to.not.include('pw-1')
    expect(banner({ settings, ...origins, firstStart: false }).join('\n')).to.not.include('password')
  })

  it('tells where documents are: a folder, or a database without its password', async () => {
    const settings = await settingsWith({ port: 0 })
    const data = (more: object) =>
      banner({ settings: { ...settings, ...more }, publicOrigin: 'http://localhost:1', firstStart: false }).find(line =>
        line.startsWith('  Data'),
      )
    expect(data({})).to.equal('  Data    /srv')
    expect(data({ postgres: 'postgres://u:secret@db:5432/site' })).to.equal('  Data    the database db:5432/site')
  })

  it('warns Windows users only where there is no HTTPS', async () => {
    const settings = await settingsWith({ path: '/dav' })
    const text = (publicOrigin: string) => banner({ settings, publicOrigin, firstStart: false }).join('\n')
    expect(text('http://a.example')).to.include('Windows wants HTTPS')
    expect(text('https://a.example')).to.not.include('Windows wants HTTPS')
    expect(text('https://a.example')).to.include('davs://a.example/dav/')
  })
})

describe('progress', () => {
  function shown(isTTY: boolean, times: number[]): string {
    const { stream, text } = collector(isTTY)
    let now = 0
    const { report, end } = progressLine(stream, () => now)
    times.forEach((time, done) => {
      now = time
      report({ step: 'reading', done, total: done % 2 ? undefined : 3 })
    })
    end()
    return text()
  }

  it('rewrites one line of a terminal, at most ten times a second, and clears it', () => {
    expect(shown(true, [0, 50, 100, 150])).to.equal(
      '\r\u001b[Kreading: 0 of 3 (0 %)\r\u001b[Kreading: 2 of 3 (66 %)\r\u001b[K',
    )
  })

  it('writes a line every ten seconds elsewhere', () => {
    expect(shown(false, [0, 9000, 10_000, 19_000, 20_000])).to.equal(
      'reading: 2 of 3 (66 %)\nreading: 4 of 3 (100 %)\n',
    )
  })

  it('of nothing leaves nothing', () => {
    expect(shown(true, [])).to.equal('')
  })
})
