/** What browsers show of collections, and how they say to mount them (DAV-40). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { type Listing, listingOrder, listingPage } from '../../../dav/answers/listing-page.ts'
import { mountAdvice, type System, systemOf } from '../../../dav/answers/mount-advice.ts'
import type { Node } from '../../../dav/places/place.ts'
import { sitePlace } from '../../../dav/places/site-place.ts'
import { readDom } from '../../support/dom.ts'

function member(path: string, size = 0): Node {
  const kind = path.endsWith('/') ? 'collection' : 'blob'
  return {
    place: sitePlace,
    resource: { path, size, kind, modified: Date.UTC(2026, 2, 14, 9, 26, 53) } as Node['resource'],
  }
}

function show(members: readonly Node[], more: Partial<Listing> = {}): Document {
  const listing: Listing = {
    title: 'Bench',
    path: '/',
    members,
    origin: 'https://dav.example',
    prefix: '',
    pages: 'https://example',
    writable: false,
    order: listingOrder(''),
    ...more,
  }
  return readDom(listingPage(listing))
}

const texts = (document: Document, selector: string) =>
  Array.from(document.querySelectorAll(selector), element => element.textContent ?? '')
const links = (document: Document, selector: string) =>
  Array.from(document.querySelectorAll(selector), element => element.getAttribute('href'))

const ODD = '/a & b/<script>alert(1)<br> "q" \'s\' é 日本 100% #1?.html'

describe('listings for browsers', () => {
  it('shows folders before files, each in the order of the listing', () => {
    const document = show([member('/a.txt', 1), member('/b/'), member('/c.txt', 1), member('/d/')])
    expect(texts(document, 'tbody td:first-child a')).to.deep.equal(['b/', 'd/', 'a.txt', 'c.txt'])
    expect(texts(document, 'header p')[0]).to.match(/^2 folders, 2 files, 2 B /)
  })

  it('writes names as text, and links as href of PROPFIND would, without character references', () => {
    const document = show([member(ODD)], { path: '/a & b/', prefix: '/edit' })
    expect(texts(document, 'tbody td:first-child a')).to.deep.equal([ODD.slice(7)])
    expect(links(document, 'tbody td:first-child a')).to.deep.equal([
      '/edit/a%20%26%20b/%3Cscript%3Ealert(1)%3Cbr%3E%20%22q%22%20%27s%27%20%C3%A9%20%E6%97%A5%E6%9C%AC%20100%25%20%231%3F.html',
    ])
    expect(document.querySelector('script')).to.equal(null)
  })

  it('shows the way from the root, with links to all folders above', () => {
    const document = show([], { path: '/a & b/c/', prefix: '/edit' })
    expect(texts(document, 'h1')).to.deep.equal(['Bench/a & b/c'])
    expect(links(document, 'h1 a')).to.deep.equal(['/edit/', '/edit/a%20%26%20b/'])
    expect(document.title).to.equal('Bench /a & b/c/')
    expect(links(show([]), 'h1 a')).to.deep.equal([])
  })

  it('says when a folder is empty', () => {
    expect(texts(show([]), '.empty')).to.deep.equal(['This folder is empty.'])
    expect(texts(show([]), 'table')).to.deep.equal([])
  })

  it('DAV-40 sorts by links, folders first, and turns pages', () => {
    const members = [member('/a', 3), member('/b/'), member('/c', 1), member('/d', 2)]
    const named = (query: string) => texts(show(members, { order: listingOrder(query) }), 'tbody td:first-child a')
    expect(named('sort=size')).to.deep.equal(['b/', 'c', 'd', 'a'])
    expect(named('sort=size&order=desc')).to.deep.equal(['b/', 'a', 'd', 'c'])
    expect(named('sort=name&order=desc')).to.deep.equal(['b/', 'd', 'c', 'a'])
    expect(named('sort=<b>&page=-1')).to.deep.equal(['b/', 'a', 'c', 'd'])
    const many = Array.from({ length: 501 }, (_, i) => member(`/${1000 + i}`))
    const second = show(many, { order: listingOrder('page=2') })
    expect(texts(second, 'tbody td:first-child a')).to.deep.equal(['1500'])
    expect(links(second, '.turn a')).to.deep.equal(['?sort=name&page=1'])
  })

  it('DAV-40 links to the page on the site and to explain, and has forms for those who may write', () => {
    const more = { path: '/x/', explain: '/-platform/explain' }
    const reading = show([member('/x/a & b.html')], more)
    expect(links(reading, 'tbody details a')).to.deep.equal([
      'https://example/x/a%20%26%20b.html',
      '/-platform/explain?path=%2Fx%2Fa%20%26%20b.html',
    ])
    expect(reading.querySelectorAll('form')).to.have.length(0)
    const writing = show([member('/x/"><b>.html')], { ...more, writable: true })
    expect(writing.querySelectorAll('form')).to.have.length(4)
    expect(writing.querySelector<HTMLInputElement>('[name=member]')?.value).to.equal('"><b>.html')
    expect(writing.querySelectorAll('script, [onclick]')).to.have.length(0)
  })

  const SIZES: [bytes: number, shown: string][] = [
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1.0 KB'],
    [1536, '1.5 KB'],
    [10_240, '10 KB'],
    [1_023_000, '999 KB'],
    [1_048_576, '1.0 MB'],
    [12_345_678, '12 MB'],
    [5 * 1024 ** 3, '5.0 GB'],
    [2 * 1024 ** 5, '2048 TB'],
  ]
  for (const [bytes, shown] of SIZES)
    it(`${bytes} bytes are ${shown}`, () => {
      const document = show([member('/x', bytes)])
      expect(texts(document, 'tbody td:nth-child(2)')).to.deep.equal([shown])
      expect(document.querySelector('tbody [title]')?.getAttribute('title')).to.equal(
        `${bytes.toLocaleString('en')} bytes`,
      )
    })

  it('dates are of UTC, for people and for programs', () => {
    const [time] = show([member('/x')]).querySelectorAll('time')
    expect([time?.textContent, time?.dateTime]).to.deep.equal(['2026-03-14 09:26', '2026-03-14T09:26:53Z'])
  })

  it('loads nothing and runs nothing', () => {
    const document = show([member('/x')])
    expect(document.querySelectorAll('script, link, img, iframe, form, [onclick], [src]')).to.have.length(0)
    expect(document.documentElement.lang).to.equal('en')
    expect(document.querySelectorAll('main, h1, header, aside > h2')).to.have.length(4)
  })
})

describe('advice for mounting', () => {
  const AGENTS: [agent: string | undefined, system: System | undefined][] = [
    ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/17.4 Safari/605.1.15', 'mac'],
    ['Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/124.0 Safari/537.36', 'windows'],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0', 'linux'],
    ['Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36', 'linux'],
    ['Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148', 'phone'],
    ['Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Mobile Safari/537.36', 'phone'],
    ['curl/8.5.0', undefined],
    ['', undefined],
    [undefined, undefined],
  ]
  for (const [agent, system] of AGENTS)
    it(`${agent?.slice(0, 50) ?? 'no agent'} is ${system ?? 'not known'}`, () => {
      expect(systemOf(agent)).to.equal(system)
    })

  for (const system of ['mac', 'windows', 'linux', 'phone'] as const)
    it(`comes first for ${system}, and folded away for all others`, () => {
      const document = readDom(mountAdvice('https://dav.example/', system))
      expect(texts(document, 'h3')).to.have.length(2)
      expect(texts(document, 'summary')).to.have.length(3).and.not.include(texts(document, 'h3')[0])
      for (const element of document.querySelectorAll('code'))
        expect(element.textContent).to.match(/\/\/dav\.example\/|^printf /)
    })

  const ADDRESSES: [system: System, address: string, said: string, silent?: string][] = [
    ['linux', 'https://dav.example/', 'davs://dav.example/'],
    ['linux', 'http://localhost:8081/', 'dav://localhost:8081/'],
    ['linux', 'https://dav.example/', 'webdavs://dav.example/'],
    [
      'linux',
      'http://localhost:8081/',
      'sudo mount -t davfs -o uid=$USER,conf=$HOME/davfs.conf http://localhost:8081/ /mnt',
    ],
    ['windows', 'http://localhost:8081/', 'BasicAuthLevel'],
    ['windows', 'https://dav.example/', 'https://dav.example/', 'BasicAuthLevel'],
    ['mac', 'https://"><b>.example/', 'https://"><b>.example/'],
  ]
  for (const [system, address, said, silent] of ADDRESSES)
    it(`${system} is told ${said} for ${address}`, () => {
      const text = readDom(mountAdvice(address, system)).body.textContent ?? ''
      expect(text.split('Elsewhere')[0]).to.include(said)
      if (silent !== undefined) expect(text).not.to.include(silent)
    })
})
