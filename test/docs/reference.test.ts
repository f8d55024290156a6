import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import { parseXml } from '../../pipeline/tree/xml.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { chapters } from './chapters.ts'

describe('The reference', () => {
  it('explains each rule in one place', () => {
    const all = chapters.flatMap(({ rules }) => rules)
    expect(all.filter((rule, i) => all.indexOf(rule) !== i)).to.deep.equal([])
  })

  for (const { name, text, rules } of chapters) {
    it(`${name}: every anchor stands before its own number`, () => {
      const named = [...text.matchAll(/<a id="([A-Z]+-\d+)"><\/a>\*\*([A-Z]+-\d+)\.\*\*/g)]
      expect(named.map(([, anchor]) => anchor)).to.deep.equal(rules)
      for (const [, anchor, number] of named) expect(number).to.equal(anchor)
    })

    it(`${name}: every link leads somewhere`, () => {
      const links = [...text.matchAll(/\]\(([^)#]*?)(?:#([^)]*))?\)/g)]
      for (const [link, file, anchor] of links) {
        if (file?.includes(':')) continue
        if (file?.endsWith('.svg')) {
          expect(existsSync(new URL(`../../docs/reference/${file}`, import.meta.url)), link).to.equal(true)
          continue
        }
        const target = chapters.find(chapter => chapter.name === (file === '' ? name : file))
        expect(target, link).to.not.equal(undefined)
        if (anchor !== undefined) expect(target?.rules, link).to.include(anchor)
      }
    })

    it(`${name}: the list of chapters names it`, () => {
      const contents = chapters.find(chapter => chapter.name === 'README.md')
      if (name !== 'README.md') expect(contents?.text).to.include(`](${name})`)
    })
  }
})

describe('The reference of a running server', () => {
  let server: TestServer
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${server.url}${path}`, { headers, redirect: 'manual' })

  before(async () => {
    server = await startServer()
  })
  after(() => server.close())

  it('shows the contents at its address, and leads there without the slash', async () => {
    const bare = await get('/.platform/reference')
    expect([bare.status, bare.headers.get('location')]).to.deep.equal([301, '/.platform/reference/'])
    const contents = await get('/.platform/reference/')
    expect(contents.status).to.equal(200)
    expect(await contents.text()).to.include('<a href="http">The HTTP interface</a>')
  })

  it('shows each chapter with its anchors and with the names of the site', async () => {
    for (const { name, rules } of chapters) {
      const answer = await get(`/.platform/reference/${name.replace('.md', '')}`)
      const text = await answer.text()
      expect(answer.status, name).to.equal(200)
      for (const rule of rules) expect(text, name).to.include(`<a id="${rule}">`)
      expect(text, name).to.not.match(/\{(brand|Brand|ns|schema_host|error_ns)\}/)
    }
  })

  it('shows its pictures, which say in words what they show', async () => {
    const folder = new URL('../../docs/reference/', import.meta.url)
    const pictures = readdirSync(folder).filter(file => file.endsWith('.svg'))
    expect(pictures).to.include.members(['composition.svg', 'templates.svg'])
    for (const file of pictures) {
      const svg = readFileSync(new URL(file, folder), 'utf8').trim()
      expect(() => parseXml(svg), file).not.to.throw()
      expect(svg, file).to.match(/^<svg [^>]*role="img"[^>]*>\s*<title>[^<]+/)
      const text = await (await get(`/.platform/reference/${file.replace('.svg', '')}`)).text()
      expect(text, file).to.include(svg).and.not.include('<img')
    }
  })

  it('HTTP-160 is shown under the policy of pages of the server, and revalidated by its tag', async () => {
    const first = await get('/.platform/reference/http')
    const policy = (await get('/.platform/none')).headers.get('content-security-policy')
    expect(first.headers.get('content-security-policy')).to.equal(policy).and.include("default-src 'none'")
    const again = await get('/.platform/reference/http', { 'If-None-Match': first.headers.get('etag') ?? '' })
    expect(again.status).to.equal(304)
  })

  for (const path of [
    '/.platform/reference/none',
    '/.platform/reference/../../package',
    '/.platform/reference/http.md',
  ])
    it(`has nothing else: ${path}`, async () => {
      const { status } = await fetch(`${server.url}${path.replace('..', '%2e%2e')}`)
      expect(status).to.be.oneOf([400, 404])
    })
})

describe('The reference on a site of somebody', () => {
  it('is not shown unless the settings say so', async () => {
    const server = await startServer({ settings: { sites: [{ host: 'localhost' }] } })
    try {
      expect((await fetch(`${server.url}/.platform/reference/`)).status).to.equal(404)
    } finally {
      await server.close()
    }
  })
})
