import { expect } from 'chai'
import { parse } from 'parse5'
import { readDom } from '../../support/dom.ts'
import { composedPaths, files, pages, text } from './pages.ts'

const here = 'http://demo.test'

/** Addresses that the server itself answers. */
const SERVER = '/-platform/oidc/'

/** The file that a path of the site is served from. */
const target = (url: URL) => (url.pathname.endsWith('/') ? `${url.pathname}index.html` : url.pathname)

describe('Demo site, files', () => {
  it('has the pages that a newcomer is shown', () => {
    expect(pages.map(({ path }) => path).sort()).to.deep.equal([
      '/articles/bus-shelters.html',
      '/articles/eleven-clocks.html',
      '/articles/four-metres-to-the-left.html',
      '/editors/index.html',
      '/events.html',
      '/guestbook.html',
      '/members/index.html',
      '/mount.html',
      '/rules.html',
    ])
  })

  it('stays small: 600 KB in all, no file over 200 KB', () => {
    const sizes = [...files.values()].map(bytes => bytes.length)
    expect(Math.max(...sizes)).to.be.below(200_000)
    expect(sizes.reduce((sum, size) => sum + size, 0)).to.be.below(600_000)
  })

  it('is UTF-8 throughout, without byte order mark', () => {
    for (const [path, bytes] of files) {
      if (path.endsWith('.png')) continue
      expect(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), path).not.to.match(/^\uFEFF/)
    }
  })

  it('has four pages that are put together, and nothing in the others but the frame', () => {
    expect(composedPaths).to.deep.equal(['/archive.html', '/by/:author.html', '/index.html', '/parts/frame.html'])
    for (const { path, source } of pages) expect(source, path).not.to.match(/\{\{|\{%|\$\{|xmlns:|\sp:/)
  })

  it('uses every picture, style sheet and script', () => {
    const used = new Set<string>()
    const visit = (path: string) => {
      if (used.has(path)) return
      used.add(path)
      for (const [, name] of text(path).matchAll(/from '(\.\/[^']+)'/g))
        visit(new URL(name ?? '', here + path).pathname)
    }
    const composed = composedPaths.map(path => ({ path, document: readDom(text(path)) }))
    for (const { document, path } of [...pages, ...composed]) {
      // What a template writes is looked at where it is served; feeds are no assets.
      for (const element of document.querySelectorAll('[src]:not([src*="{"]), link[href]:not([rel="alternate"])')) {
        const url = new URL(element.getAttribute('src') ?? element.getAttribute('href') ?? '', here + path)
        if (url.pathname.endsWith('.mjs')) visit(url.pathname)
        else used.add(url.pathname)
      }
    }
    const assets = [...files.keys()].filter(path => !/\.(html|xml)$/.test(path))
    expect([...used].sort()).to.deep.equal(assets.sort())
  })
})

for (const { path, source, document } of pages) {
  const all = (selector: string) => [...document.querySelectorAll(selector)]

  describe(`Demo site, ${path}`, () => {
    it('parses without a single error', () => {
      const errors: string[] = []
      parse(source, {
        sourceCodeLocationInfo: true,
        onParseError: error => errors.push(`${error.code} in line ${error.startLine}`),
      })
      expect(errors).to.deep.equal([])
    })

    it('links only to what is there, fragments included', () => {
      for (const element of all('[href], [src]')) {
        const url = new URL(element.getAttribute('href') ?? element.getAttribute('src') ?? '', here + path)
        if (url.origin !== here) {
          expect(element.localName, 'what comes from elsewhere').to.equal('a')
          continue
        }
        if (url.pathname.startsWith(SERVER)) continue
        expect([...files.keys()], `${path} refers to it`).to.include(target(url))
        if (url.hash === '') continue
        const there = pages.find(page => page.path === target(url))
        expect(there?.document.getElementById(url.hash.slice(1)), `${url.pathname}${url.hash}`).not.to.equal(null)
      }
    })

    it('has unique ids, and every reference to an id finds one', () => {
      const ids = all('[id]').map(element => element.id)
      expect(new Set(ids).size).to.equal(ids.length)
      for (const name of ['for', 'aria-labelledby', 'aria-describedby']) {
        for (const element of all(`[${name}]`)) expect(ids).to.include(element.getAttribute(name))
      }
    })

    it('gives pictures a text and their size', () => {
      for (const image of all('img')) {
        const name = image.getAttribute('src') ?? ''
        const [width, height] = [image.getAttribute('width'), image.getAttribute('height')].map(Number)
        expect(image.hasAttribute('alt'), name).to.equal(true)
        // A picture without text repeats the link beside it, and is hidden from those who cannot see it.
        if (image.getAttribute('alt') === '') expect(image.closest('[aria-hidden="true"]'), name).not.to.equal(null)
        expect([width, height], name).to.deep.equal(pictureSize(name))
      }
    })

    it('has a language, a title, landmarks, one h1 and headings in order', () => {
      expect(document.documentElement.lang).to.equal('en')
      expect(pages.filter(other => other.document.title === document.title)).to.have.length(1)
      for (const landmark of ['main', 'body > header', 'body > footer', 'nav[aria-label]', 'h1']) {
        expect(all(landmark), landmark).to.have.length(1)
      }
      const levels = all('h1, h2, h3, h4, h5, h6').map(heading => Number(heading.localName.slice(1)))
      for (const [i, level] of levels.entries()) expect(level, `heading ${i}`).to.be.at.most((levels[i - 1] ?? 0) + 1)
    })

    it('begins with a link past the navigation, and marks the page one is on', () => {
      const first = all('a[href], button, input')[0]
      expect(document.querySelector(first?.getAttribute('href') ?? 'none')?.localName).to.equal('main')
      const current = all('[aria-current="page"]').map(link => target(new URL(link.getAttribute('href') ?? '', here)))
      expect(current).to.deep.equal(/^\/(articles|editors)\//.test(path) ? [] : [path])
    })

    it('labels every field, and says what links and buttons do', () => {
      for (const field of all('input, textarea')) expect(field.closest('label')?.textContent?.trim()).to.match(/\w/)
      for (const control of all('a, button')) {
        if (control.getAttribute('aria-hidden') === 'true') expect(control.getAttribute('tabindex')).to.equal('-1')
        else expect(control.getAttribute('aria-label') ?? control.textContent?.trim()).to.match(/\w/)
      }
    })

    it('runs its own script files and nothing else, whatever visitors write into it', () => {
      const policy = document.querySelector('meta[http-equiv="Content-Security-Policy"]')
      expect(policy?.getAttribute('content')?.split('; ')).to.have.members([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
      ])
      expect(policy?.previousElementSibling?.hasAttribute('charset'), 'it holds for all that follows it').to.equal(true)
      for (const script of all('script')) {
        expect([script.getAttribute('type'), script.textContent]).to.deep.equal(['module', ''])
      }
      for (const element of all('*')) {
        for (const name of element.getAttributeNames()) expect(name).not.to.match(/^on|^style$/)
      }
    })
  })
}

/** Width and height of a picture file: the header of a PNG, the attributes of an SVG. */
function pictureSize(path: string): number[] {
  if (path.endsWith('.png')) {
    const bytes = files.get(path)
    return [bytes?.readUInt32BE(16) ?? 0, bytes?.readUInt32BE(20) ?? 0]
  }
  return ['width', 'height'].map(name => Number(new RegExp(`<svg[^>]*\\s${name}="(\\d+)"`).exec(text(path))?.[1]))
}
