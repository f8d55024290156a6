import { expect } from 'chai'
import fc from 'fast-check'
import { FirstHost } from '../../config/first-host.ts'
import { hostPattern } from '../../config/host-pattern.ts'
import { isHostPattern, normalizeHost, readHost } from '../../config/hosts.ts'
import { brandHeader, type SiteTable, siteTable, unreachableEntries } from '../../config/sites.ts'
import { takesLess } from '../support/cost.ts'
import { loadText } from './loading.ts'

async function table(text: string): Promise<SiteTable> {
  return siteTable((await loadText(text)).settings)
}

const nameOf = (sites: SiteTable, host: string) => sites.siteFor(host)?.host

describe('host names', () => {
  const CASES: [host: string, normal: string | undefined][] = [
    ['www.example.org', 'www.example.org'],
    ['WWW.Example.ORG', 'www.example.org'],
    ['www.example.org:8080', 'www.example.org'],
    ['www.example.org:', 'www.example.org'],
    ['www.example.org.', 'www.example.org'],
    ['www.example.org.:80', 'www.example.org'],
    ['localhost', 'localhost'],
    ['my_host', 'my_host'],
    ['127.0.0.1:81', '127.0.0.1'],
    ['[::1]', '[::1]'],
    ['[::1]:8080', '[::1]'],
    ['[0:0:0:0:0:0:0:1]', '[::1]'],
    ['[2001:DB8::A]:1', '[2001:db8::a]'],
    ['[::ffff:1.2.3.4]', '[::ffff:102:304]'],
    ['', undefined],
    ['.', undefined],
    ['a..b', undefined],
    ['a.org..', undefined],
    ['-a.org', undefined],
    ['.a.org', undefined],
    ['a.org:80:80', undefined],
    ['a.org:http', undefined],
    ['a.org:123456', undefined],
    ['::1', undefined],
    ['[::1', undefined],
    ['[::1]x', undefined],
    ['[fe80::1%eth0]', undefined],
    ['[:::]', undefined],
    ['a b', undefined],
    ['a/b', undefined],
    ['a\\b', undefined],
    ['a@b', undefined],
    ['*.example.org', undefined],
    ['a,b', undefined],
    ['a\u0000', undefined],
    ['bücher.example', undefined],
    [`${'a'.repeat(63)}.org`, `${'a'.repeat(63)}.org`],
    [`${'a'.repeat(64)}.org`, undefined],
    [`${'a.'.repeat(126)}a`, `${'a.'.repeat(126)}a`],
    [`${'a.'.repeat(127)}a`, undefined],
    ['a'.repeat(100_000), undefined],
  ]
  for (const [host, normal] of CASES) {
    it(`${JSON.stringify(host.slice(0, 70))} is ${normal === undefined ? 'no host name' : normal.slice(0, 70)}`, () => {
      expect(normalizeHost(host)).to.equal(normal)
    })
  }

  it('a normal host name is its own normal form', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.domain(),
          fc.ipV4(),
          fc.ipV6().map(ip => `[${ip}]`),
          fc.string(),
        ),
        host => {
          const normal = normalizeHost(host)
          if (normal !== undefined) expect(normalizeHost(normal)).to.equal(normal)
        },
      ),
      { seed: 1 },
    )
  })

  it('hosts of the settings are host names, or patterns that match some', () => {
    expect(readHost('*.Example.org')).to.equal('*.example.org')
    expect(readHost('**.example.org')).to.equal('*.example.org')
    expect(readHost('[::1]')).to.equal('[::1]')
    expect(readHost('::1')).to.equal(undefined)
    expect(readHost('[a-z].example')).to.equal(undefined)
  })
})

describe('site table', () => {
  const TEXT = `
sites:
  - host: www.example.org
    title: first
  - host: ["*.example.org", example.org]
    title: second
  - host: "{a,b}?.example.net"
    title: third
  - host: "[::1]"
    title: fourth
`
  const CASES: [host: string, title: string | undefined][] = [
    ['www.example.org', 'first'],
    ['WWW.EXAMPLE.ORG.:8080', 'first'],
    ['x.example.org', 'second'],
    ['a.b.example.org', 'second'],
    ['example.org', 'second'],
    ['wwwxexample.org', undefined],
    ['example.org.evil.example', undefined],
    ['a1.example.net', 'third'],
    ['c1.example.net', undefined],
    ['a12.example.net', undefined],
    ['[0::1]:80', 'fourth'],
    ['other.example', undefined],
    ['*.example.org', undefined],
    ['', undefined],
  ]
  for (const [host, title] of CASES) {
    it(`${JSON.stringify(host)} is ${title ?? 'no site'}`, async () => {
      expect((await table(TEXT)).siteFor(host)?.title).to.equal(title)
    })
  }

  it('every host of a pattern is a site of its own', async () => {
    const sites = await table('sites: [{ host: "*.example.org", publicUrl: "https://{host}" }]')
    expect(nameOf(sites, 'a.example.org')).to.equal('a.example.org')
    expect(nameOf(sites, 'B.example.org:80')).to.equal('b.example.org')
    expect(sites.siteFor('a.example.org')?.publicUrl).to.equal('https://a.example.org')
    expect(sites.siteFor('b.example.org')?.publicUrl).to.equal('https://b.example.org')
    expect(sites.named).to.deep.equal([])
  })

  it('hosts of one entry without name are kept apart, with name they are one site', async () => {
    const apart = await table('sites: [{ host: [a.example, b.example] }]')
    expect(nameOf(apart, 'a.example')).to.not.equal(nameOf(apart, 'b.example'))
    expect(apart.named.map(site => site.host)).to.deep.equal(['a.example', 'b.example'])
    const together = await table('sites: [{ host: [a.example, "*.b.example"], name: one }]')
    expect(together.siteFor('a.example')).to.equal(together.siteFor('x.b.example'))
    expect(together.named.map(site => site.host)).to.deep.equal(['one'])
  })

  it('no other entry reaches the documents of a named site', async () => {
    const sites = await table('sites: [{ host: a.example, name: one, title: T }, { host: "*" }]')
    expect(sites.siteFor('one')).to.equal(sites.siteFor('a.example'))
    expect(nameOf(sites, 'two')).to.equal('two')
  })

  it('the demo site answers for every host name, and for none that is no host name', async () => {
    const sites = await table('')
    const site = sites.siteFor('localhost:8080')
    expect(site?.host).to.equal('localhost')
    for (const host of ['127.0.0.1:8080', 'box.lan', '[::1]:1', 'www.example.org']) {
      expect(sites.siteFor(host), host).to.equal(site)
    }
    expect(sites.siteFor('a b')).to.equal(undefined)
    expect(sites.named).to.deep.equal([site])
  })

  it('what depends on other settings is derived', async () => {
    const sites = await table(
      'sites: [{ host: a, brand: my-site, ns: https://x.example/v }, { host: b, errorNs: https://e.example }]',
    )
    expect(sites.siteFor('a')).to.deep.include({ brandHeader: 'My-Site', errorNs: 'https://x.example/v/error' })
    expect(sites.siteFor('b')).to.deep.include({ brandHeader: 'Platform', errorNs: 'https://e.example' })
  })

  it('DAV-3 sites of one entry have it in common, and no others', async () => {
    const sites = await table('sites: [{ host: [a, b] }, { host: "*.c" }, { host: [d, "*.d"], name: e }]')
    const entries = ['a', 'b', 'x.c', 'y.c', 'd', 'x.d', 'e'].map(host => sites.siteFor(host)?.entry)
    expect(entries).to.deep.equal(['a', 'a', '*.c', '*.c', 'e', 'e', 'e'])
  })

  it('brand words are spelled with capital letters in headers', () => {
    expect(['platform', 'a', 'a1-b2-3c'].map(brandHeader)).to.deep.equal(['Platform', 'A', 'A1-B2-3c'])
  })

  it('hostile hosts neither fill the memory nor change what is found', async () => {
    const sites = await table('sites: [{ host: "*.example.org" }, { host: a.example }]')
    const first = sites.siteFor('a.example')
    for (let index = 0; index < 5000; index++) sites.siteFor(`h${index}.example.org`)
    expect(sites.siteFor('a.example')).to.deep.equal(first)
    expect(nameOf(sites, 'h17.example.org')).to.equal('h17.example.org')
  })

  it('three stars against the longest host take no time', async () => {
    const sites = await table('sites: [{ host: "*a*a*a.example" }]')
    const labels = `${`${'a'.repeat(61)}.`.repeat(4)}b`
    await takesLess(250, () => {
      for (let index = 0; index < 5; index++) expect(sites.siteFor(labels.slice(index))).to.equal(undefined)
    })
  })

  it('alternatives after each other against any host take no time', async () => {
    const text = (pattern: string) => `sites: [{ host: "${pattern}" }]`
    const [many, some] = [await table(text(`${'{a,aa}'.repeat(40)}.*`)), await table(text('{,a}{b,}?{c.,*d}{x}'))]
    await takesLess(50, () => {
      expect(many.siteFor(`${'a'.repeat(60)}-.b`)).to.equal(undefined)
      expect(nameOf(many, `${'a'.repeat(60)}.b`)).to.equal(`${'a'.repeat(60)}.b`)
    })
    for (const host of ['abzc.x', 'zc.x', 'b-dx', 'abzaadx']) expect(nameOf(some, host), host).to.equal(host)
    for (const host of ['abzc', 'c.x', 'aabzc.x', 'abzcx']) expect(nameOf(some, host), host).to.equal(undefined)
  })

  it('which of thousands of entries are never reached is told at once', async () => {
    const patterns = Array.from({ length: 2000 }, (_, number) => `*.a${number}`)
    const hosts = patterns.map((_, number) => [`a${number}`])
    const { settings } = await loadText('sites: [{ host: a }]')
    const [entry] = settings.sites
    if (!entry) throw new Error('no entry')
    const entries = [patterns, ...hosts, ['b.a7', '*.a7']].map(host => ({ ...entry, host }))
    await takesLess(1500, () => expect(unreachableEntries(entries)).to.deep.equal([[2001, 0]]))
  })

  it('SEC-4 a host among thousands of entries, known or not, is found without trying them all', async () => {
    const { settings } = await loadText('sites: [{ host: a }]')
    const [entry] = settings.sites
    if (!entry) throw new Error('no entry')
    const sites = Array.from({ length: 2000 }, (_, i) => ({ ...entry, host: [`h${i}.example`, `*.w${i}.example`] }))
    await takesLess(300, () => {
      const made = siteTable({ ...settings, sites })
      expect(made.named).to.have.length(2000)
      for (let i = 0; i < 2000; i++) {
        expect(nameOf(made, `a.w${i}.example`)).to.equal(`a.w${i}.example`)
        expect(nameOf(made, `unknown${i}.example`)).to.equal(undefined)
      }
      expect(unreachableEntries(sites)).to.deep.equal([])
    })
  })

  it('of all hosts and patterns that fit the first one counts', () => {
    const part = fc.constantFrom('*', '?', '{a,b.}', 'a', 'b', '.', 'a.b')
    const pattern = fc.array(part, { minLength: 1, maxLength: 4 }).map(parts => parts.join(''))
    const host = fc.array(fc.constantFrom('a', 'b', '.'), { minLength: 1, maxLength: 6 }).map(parts => parts.join(''))
    fc.assert(
      fc.property(fc.array(pattern, { maxLength: 8 }), fc.array(host, { minLength: 1, maxLength: 8 }), (all, asked) => {
        const table = new FirstHost()
        for (const [place, each] of all.entries()) table.add(each, place)
        for (const each of asked) {
          const fits = (one: string) => (isHostPattern(one) ? hostPattern(one)(each) : one === each)
          const first = all.findIndex(fits)
          expect(table.find(each), `${each} in ${all}`).to.equal(first < 0 ? undefined : first)
        }
      }),
    )
  })

  it('the same host gives the same object while it is in use', async () => {
    const sites = await table('sites: [{ host: "*" }]')
    const busy = sites.siteFor('busy.example')
    for (let index = 0; index < 3000; index++) {
      sites.siteFor(`h${index}.example`)
      expect(sites.siteFor('busy.example')).to.equal(busy)
    }
  })
})

describe('hosts of mounts', () => {
  const SITES = 'sites: [{ host: www.example.org }, { host: "*.example.net" }]'
  const CASES: [mount: string, host: string, site: string | undefined][] = [
    ['{ host: "dav.{host}" }', 'dav.www.example.org', 'www.example.org'],
    ['{ host: "dav.{host}" }', 'DAV.www.example.org.:8080', 'www.example.org'],
    ['{ host: "dav.{host}" }', 'dav.a.example.net', 'a.example.net'],
    ['{ host: "dav.{host}" }', 'www.example.org', undefined],
    ['{ host: "dav.{host}" }', 'dav.', undefined],
    ['{ host: "dav.{host}" }', 'dav.other.example', undefined],
    ['{ host: "dav-{host}" }', 'dav-www.example.org', 'www.example.org'],
    ['{ host: "{host}.dav.example" }', 'www.example.org.dav.example', 'www.example.org'],
    ['{ port: 1 }', 'dav.www.example.org', undefined],
    ['{ path: /dav }', 'www.example.org', undefined],
  ]
  for (const [mount, host, site] of CASES) {
    it(`mount ${mount}: ${host} is ${site === undefined ? 'no mount' : `that of ${site}`}`, async () => {
      expect((await table(`mount: ${mount}\n${SITES}`)).mountSiteFor(host)?.host).to.equal(site)
    })
  }
})
