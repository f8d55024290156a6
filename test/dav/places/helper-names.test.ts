/** Names of files that desktop systems and editors keep for themselves (DAV-70, DAV-74, DAV-75). */

import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { type HelperSettings, helperNames } from '../../../dav/places/helper-names.ts'
import { takesLess } from '../../support/cost.ts'

const NONE: HelperSettings = { metadata: [], work: [], ordinary: [] }
const built = helperNames(NONE)

/** `M` is kept and not listed, `W` is kept and listed; `/` says that collections of this name are kept as well. */
function classOf(path: string, names = built): string {
  const helper = names.of(path)
  if (!helper) return ''
  expect(names.suspect.test(path), 'what asks first lets it through').to.equal(true)
  return (helper.listed ? 'W' : 'M') + (helper.inCollection ? '/' : '')
}

describe('helper names', () => {
  it('most paths are told apart by one look, further names of the operator by all', () => {
    for (const path of ['/', '/index.html', '/news/2026/summer.html', '/a~b/c.png']) {
      expect(built.suspect.test(path), path).to.equal(false)
      expect(helperNames({ ...NONE, work: ['*.lock'] }).suspect.test(path), path).to.equal(true)
    }
  })

  const CLASSES: [expected: string, ...names: string[]][] = [
    [
      'M/',
      '._page.html',
      '._',
      '._.',
      '.DS_Store',
      '.ds_store',
      '.localized',
      '.Spotlight-V100',
      '.Trashes',
      '.fseventsd',
      '.TemporaryItems',
      '.apdisk',
      '.VolumeIcon.icns',
      '.metadata_never_index',
      '.ql_disablecache',
      '.ql_',
      'desktop.ini',
      'Desktop.INI',
      'Thumbs.db',
      'THUMBS.DB',
      'ehthumbs.db',
      '.directory',
    ],
    [
      'W',
      '~$plan.docx',
      '~$',
      '.~lock.essay.odt#',
      '~WRL0001.tmp',
      '~wrd0000.tmp',
      '5A2B3C01',
      '5a2b3c01.tmp',
      'DEADBEEF.TMP',
      'page.html~',
      '~',
      '.page.html.swp',
      '.page.html.swo',
      '..swx',
      '4913',
      '.#page.html',
      '#page.html#',
      '##',
      '.goutputstream-A1B2C3',
      '.fuse_hidden0000000100000001',
      '.davfs.tmp1a2b3c',
    ],
    ['W/', 'x.txt.sb-1a2b3c4d-Xy12Zq', '(A Document Being Saved By TextEdit)', '(a document being saved by pages 2)'],
    [
      '',
      '.well-known',
      '.htaccess',
      '.nojekyll',
      '.env',
      '.gitignore',
      '.',
      '_',
      'index.html',
      'DS_Store',
      'x.DS_Store',
      '.DS_Store.txt',
      'thumbs.db.png',
      'my desktop.ini',
      'page~.html',
      '~page.html',
      '~WR001.tmp',
      '~WRL00012.tmp',
      '5A2B3C0',
      '5A2B3C012',
      '5A2B3C0G',
      '5A2B3C01.temp',
      'x5A2B3C01',
      '49130',
      '#page.html',
      'page.html#',
      'page.swp',
      '.swp',
      'goutputstream-A1B2C3',
      'x.txt.sb-1a2b3c4d-Xy12Z',
      'x.txt.sb-1a2b3c4d-Xy12Zqq',
      'A Document Being Saved By TextEdit',
      '.directory.html',
      'lock.essay.odt#',
    ],
  ]
  for (const [expected, ...names] of CLASSES)
    for (const name of names)
      it(`DAV-70 ${JSON.stringify(name)} is ${expected || 'ordinary'}, in any collection`, () => {
        for (const folder of ['/', '/docs/', '/a/b/']) expect(classOf(folder + name), folder).to.equal(expected)
      })

  const PATHS: [path: string, expected: string][] = [
    ['/', ''],
    ['/docs/', ''],
    ['/.Trashes/', 'M/'],
    ['/.Trashes/501/photo.jpg', 'W/'],
    ['/.Trashes/501/', 'W/'],
    ['/.Trashes/501/._photo.jpg', 'M/'],
    ['/a/.Spotlight-V100/Store-V2/', 'W/'],
    ['/x.txt.sb-1a2b3c4d-Xy12Zq/', 'W/'],
    ['/x.txt.sb-1a2b3c4d-Xy12Zq/x.txt', 'W/'],
    ['/x.txt.sb-1a2b3c4d-Xy12Zq/.DS_Store', 'M/'],
    ['/(A Document Being Saved By TextEdit)/deep/er.html', 'W/'],
    // Work files are files: collections with such names belong to the site.
    ['/page.html~/', ''],
    ['/page.html~/index.html', ''],
    ['/5A2B3C01/', ''],
    ['/5A2B3C01/index.html', ''],
    ['/4913/x', ''],
    ['/~$x/y', ''],
  ]
  for (const [path, expected] of PATHS)
    it(`DAV-70 ${path} is ${expected || 'ordinary'}`, () => {
      expect(classOf(path)).to.equal(expected)
    })

  const SETTINGS: [settings: Partial<HelperSettings>, path: string, expected: string][] = [
    [{ metadata: ['.syncthing.*'] }, '/.syncthing.x.tmp', 'M/'],
    [{ metadata: ['.Syncthing.*'] }, '/.SYNCTHING.x', 'M/'],
    [{ metadata: ['cache'] }, '/cache/', 'M/'],
    [{ metadata: ['cache'] }, '/cache/x.html', 'W/'],
    [{ metadata: ['cache'] }, '/caches/x.html', ''],
    [{ work: ['*.bak', '?.tmp'] }, '/page.bak', 'W'],
    [{ work: ['*.bak', '?.tmp'] }, '/1.tmp', 'W'],
    [{ work: ['*.bak', '?.tmp'] }, '/12.tmp', ''],
    [{ work: ['*.bak'] }, '/page.bak/', ''],
    [{ ordinary: ['desktop.ini'] }, '/Desktop.ini', ''],
    [{ ordinary: ['????????'] }, '/5A2B3C01', ''],
    [{ ordinary: ['????????'] }, '/5A2B3C01.tmp', 'W'],
    [{ ordinary: ['._*'] }, '/._x/y', ''],
    [{ ordinary: ['*~'] }, '/page.html~', ''],
    [{ ordinary: ['._keep'] }, '/.Trashes/._keep', 'W/'],
    [{ metadata: ['x'], ordinary: ['x'] }, '/x', ''],
    [{ work: ['a.b'] }, '/aXb', ''],
    [{ work: ['[ab]'] }, '/a', ''],
  ]
  for (const [settings, path, expected] of SETTINGS)
    it(`DAV-74 with ${JSON.stringify(settings)}, ${path} is ${expected || 'ordinary'}`, () => {
      expect(classOf(path, helperNames({ ...NONE, ...settings }))).to.equal(expected)
    })

  it('DAV-70 letters of any case are the same, whatever the name', () => {
    const names = CLASSES.flatMap(([, ...each]) => each)
    fc.assert(
      fc.property(
        fc.constantFrom(...names),
        fc.array(fc.boolean(), { minLength: 64, maxLength: 64 }),
        (name, upper) => {
          const written = [...name].map((c, i) => (upper[i] ? c.toUpperCase() : c.toLowerCase())).join('')
          expect(classOf(`/${written}`)).to.equal(classOf(`/${name}`))
        },
      ),
    )
  })

  it('decides names of any length in time: no pattern goes back further than its last star', () => {
    const names = helperNames({ ...NONE, work: ['*a*a*a*a*a*a*a*a*b'], metadata: ['*?*?*?*?*c'] })
    return takesLess(100, () => {
      for (let i = 0; i < 100; i++) names.of(`/${'a'.repeat(255)}`)
    })
  })
})
