import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { allVariables } from '../../config/environment.ts'
import { loadSettings } from '../../config/load.ts'
import { type Outline, outline, outlineAt, pathText, readPath } from '../../config/outline.ts'
import { reference } from '../../config/reference.ts'
import { nearest } from '../../config/suggest.ts'

const CONFIG = new URL('../../config/', import.meta.url)

function everySetting(node: Outline, key: string): [string, Outline][] {
  if (node.kind === 'list') return node.item.kind === 'group' ? everySetting(node.item, `${key}[]`) : []
  if (node.kind !== 'group') return []
  return [...node.keys].flatMap(([name, below]): [string, Outline][] => {
    const path = key === '' ? name : `${key}.${name}`
    return [[path, below], ...everySetting(below, path)]
  })
}

describe('settings: documentation', () => {
  it('config/README.md is what "scriptorium settings" prints', async () => {
    expect(await readFile(new URL('README.md', CONFIG), 'utf8')).to.equal(reference())
  })

  it('every setting says what it does, and every value what may be written', () => {
    const all = everySetting(outline, '')
    expect(all.length).to.be.above(100)
    for (const [key, node] of all) {
      expect(node.about?.doc, key).to.match(/^.{10,}\.( `?[^.]*`? says the same\.)?$/)
      if (node.kind === 'value') expect(node.expected, key).to.match(/^[^A-Z].{3,}$/)
    }
  })

  it('every password, key, secret and service address is marked as secret', () => {
    const secret = everySetting(outline, '')
      .filter(([, node]) => node.about?.secret !== undefined)
      .map(([key]) => key.replace(/^(defaults|sites\[\])\./, ''))
    expect(new Set(secret)).to.deep.equal(
      new Set(['redis', 'postgres', 'blobs', 'credentials[].password', 'credentials[].key', 'oidc.clientSecret']),
    )
  })

  it('every setting has a variable of its own', () => {
    const all = [...allVariables(outline, [])]
    expect(new Set(all).size).to.equal(all.length)
    expect(all).to.include('SCRIPTORIUM_SITES_0_CREDENTIALS_0_USER')
  })

  it('the example loads without a doubt', async () => {
    const { settings, warnings, firstStart } = await loadSettings({
      file: fileURLToPath(new URL('example.yaml', CONFIG)),
    })
    expect(warnings).to.deep.equal([])
    expect(firstStart).to.equal(false)
    expect(settings.sites.map(site => site.host)).to.deep.equal([
      ['localhost'],
      ['www.example.org', 'example.org'],
      ['*.example.net'],
    ])
  })

  it('MNT-1 whoever has read the example knows no password of a server that runs on it', async () => {
    const { settings } = await loadSettings({ file: fileURLToPath(new URL('example.yaml', CONFIG)) })
    const passwords = settings.sites.flatMap(({ credentials }) => credentials.map(({ password = '' }) => password))
    expect(new Set(passwords).size).to.equal(passwords.length).and.to.be.above(0)
    for (const password of passwords) expect(password).to.match(/^scrypt\$32768\$8\$3\$/)
  })
})

describe('settings: places', () => {
  for (const [text, path] of [
    ['listen.port', ['listen', 'port']],
    ['sites[0].host', ['sites', 0, 'host']],
    ['sites.12.credentials[3].user', ['sites', 12, 'credentials', 3, 'user']],
  ] as const) {
    it(`${text} is read and written`, () => {
      expect(readPath(text)).to.deep.equal(path)
      expect(outlineAt(readPath(text))?.kind).to.be.oneOf(['value', 'list'])
      expect(readPath(pathText(path))).to.deep.equal(path)
    })
  }
  it('what is no setting has no outline', () => {
    for (const text of ['', 'x', 'listen.x', 'listen[0]', 'sites.host', '__proto__', 'listen.port.x']) {
      expect(outlineAt(readPath(text)), text).to.equal(undefined)
    }
  })
})

describe('suggestions', () => {
  const WORDS = ['maxBody', 'maxDocument', 'cors', 'credentials', 'serve']
  const CASES: [mistyped: string, meant: string | undefined][] = [
    ['maxbody', 'maxBody'],
    ['max-body', 'maxBody'],
    ['max_bdoy', 'maxBody'],
    ['credential', 'credentials'],
    ['cros', 'cors'],
    ['server', 'serve'],
    ['xyz', undefined],
    ['', undefined],
    ['m'.repeat(10_000), undefined],
  ]
  for (const [mistyped, meant] of CASES) {
    it(`${mistyped.slice(0, 20)} means ${meant ?? 'nothing'}`, () => {
      expect(nearest(mistyped, WORDS)).to.equal(meant)
    })
  }
})
