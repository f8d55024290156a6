import { expect } from 'chai'
import { describe, it } from 'mocha'
import {
  compressible,
  extensionFor,
  isStaticAsset,
  kindOf,
  servedType,
  storedType,
} from '../../../pipeline/http/media.ts'

describe('media types', () => {
  const stored: [path: string, request: string | undefined, type: string][] = [
    ['/a.html', 'text/plain', 'text/html'],
    ['/a.HTM', 'image/png', 'text/html'],
    ['/a.hTmL', undefined, 'text/html'],
    ['/d/', 'text/plain', 'text/html'],
    ['/a.css', 'Text/CSS; Charset=latin1', 'Text/CSS; Charset=latin1'],
    ['/a.css', 'application/octet-stream', 'application/octet-stream'],
    ['/a.css', undefined, 'text/css'],
    ['/a.CSS', '', 'text/css'],
    ['/a.png', undefined, 'image/png'],
    ['/archive.tar.gz', undefined, 'application/gzip'],
    ['/app.webmanifest', undefined, 'application/manifest+json'],
    ['/a.jpeg', undefined, 'image/jpeg'],
    ['/a.ico', undefined, 'image/x-icon'],
    ['/a.woff2', undefined, 'font/woff2'],
    ['/a', undefined, 'application/octet-stream'],
    ['/a.css/b', undefined, 'application/octet-stream'],
    ['/a.unknown', undefined, 'application/octet-stream'],
    ['/a', 'text/html; charset=utf-8', 'text/html; charset=utf-8'],
    ['/a.html.txt', undefined, 'text/plain'],
    ['/a.constructor', undefined, 'application/octet-stream'],
  ]
  for (const [path, request, type] of stored) {
    it(`HTTP-20 ${path} sent as ${request}`, () => expect(storedType(path, request)).to.equal(type))
  }

  const kinds: [type: string, kind: string][] = [
    ['text/html', 'html'],
    ['Text/HTML; charset=x', 'html'],
    ['application/xml', 'xml'],
    ['text/xml;charset=utf-8', 'xml'],
    ['application/atom+xml', 'xml'],
    ['application/xhtml+xml', 'xml'],
    ['model/x3d+xml', 'xml'],
    ['image/svg+xml', 'blob'],
    ['IMAGE/SVG+XML', 'blob'],
    ['+xml', 'blob'],
    ['text/plain', 'blob'],
    ['application/json', 'blob'],
    ['text/htmlx', 'blob'],
    ['', 'blob'],
  ]
  for (const [type, kind] of kinds) it(`HTTP-21 ${type || 'empty'}`, () => expect(kindOf(type)).to.equal(kind))

  it('HTTP-150 static assets', () => {
    for (const type of [
      'text/css',
      'text/javascript; charset=utf-8',
      'application/javascript',
      'application/x-javascript',
      'image/png',
      'image/svg+xml',
      'font/woff2',
      'application/font-woff',
      'application/vnd.ms-fontobject',
    ]) {
      expect(isStaticAsset(type), type).to.equal(true)
    }
    for (const type of ['text/html', 'application/json', 'application/pdf', 'text/csv', 'application/fontage']) {
      expect(isStaticAsset(type), type).to.equal(false)
    }
  })

  it('HTTP-23 HTTP-25 charset is told where it is true', () => {
    expect(servedType('text/html', true)).to.equal('text/html; charset=utf-8')
    expect(servedType('text/html', false)).to.equal('text/html')
    expect(servedType('text/html; level=1', true)).to.equal('text/html; level=1; charset=utf-8')
    expect(servedType('text/html;CHARSET=iso-8859-1', true)).to.equal('text/html;CHARSET=iso-8859-1')
    const quoted = 'text/html; x="; charset=iso-8859-1"'
    expect(servedType(quoted, true)).to.equal(`${quoted}; charset=utf-8`)
    expect(servedType(`${quoted}; charset=`, true)).to.equal(`${quoted}; charset=utf-8`)
    expect(servedType('application/xml', true)).to.equal('application/xml')
    for (const type of ['text/html;level', 'text/html ;level=1 ;', `text/html; x="a;b"; y='c`])
      expect(servedType(type, true)).to.equal(`${type}; charset=utf-8`)
    expect(servedType('text/css', true)).to.equal('text/css')
  })

  it('compression pays for text, not for what is compressed already', () => {
    for (const type of ['text/html; charset=utf-8', 'image/svg+xml', 'application/ld+json', 'font/ttf']) {
      expect(compressible(type), type).to.equal(true)
    }
    for (const type of ['image/png', 'font/woff2', 'application/zip', 'text/event-stream', 'video/mp4']) {
      expect(compressible(type), type).to.equal(false)
    }
  })

  it('COMP-108 extensions of generated names', () => {
    const table = {
      'text/html': 'html',
      'image/jpeg': 'jpg',
      'application/json; charset=utf-8': 'json',
      'text/javascript': 'js',
      'application/xml': 'xml',
      'text/xml': 'xml',
      'application/octet-stream': 'bin',
      'chemical/x-pdb': 'bin',
    }
    for (const [type, extension] of Object.entries(table)) expect(extensionFor(type), type).to.equal(extension)
    expect(extensionFor(undefined)).to.equal('bin')
  })
})
