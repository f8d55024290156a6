/** Finder and programs on macOS: `webdavfs_agent` writes whole files under a lock. */

import type { Replay, Step } from '../replay.ts'
import { IS_DAV, lockinfo, page, propfind, XML } from './requests.ts'

const AGENT = 'WebDAVFS/3.0.0 (03008000) Darwin/23.6.0 (arm64)'

const FACTS = propfind('getlastmodified', 'getcontentlength', 'creationdate', 'resourcetype')
const LISTING = propfind(
  'getlastmodified',
  'getcontentlength',
  'creationdate',
  'resourcetype',
  '{http://www.apple.com/webdav_fs/props/}appledoubleheader',
)
const QUOTA = propfind('quota-available-bytes', 'quota-used-bytes', 'quota', 'quotaused')
const OWNER = '<D:href>http://www.apple.com/webdav_fs/</D:href>'

const look = (path: string, expected: Step[3]): Step => [
  `PROPFIND ${path}`,
  { Depth: '0', 'Content-Type': 'text/xml' },
  FACTS,
  expected,
]

/** Files that Finder looks for in every volume. */
const probes = [
  '.metadata_never_index',
  '.Spotlight-V100',
  '._.',
  '.DS_Store',
  'mach_kernel',
  'Backups.backupdb',
  '.hidden',
].map(name => look(`/${name}`, 404))

/** A file is made empty, locked, read back, written in chunks, looked at and unlocked. */
const copyIn = (path: string, pieces: readonly string[], token: string): Step[] => [
  look(path, 404),
  [`PUT ${path}`, {}, '', 201],
  look(path, { status: 207, props: { [path]: { getcontentlength: '0', resourcetype: '', getlastmodified: /GMT$/ } } }),
  [
    `LOCK ${path}`,
    { Depth: '0', Timeout: 'Second-600', 'Content-Type': XML },
    lockinfo(OWNER),
    { status: 200, body: /Second-(600|59\d)/, keep: { [token]: 'token of the body' } },
  ],
  [`GET ${path}`, {}, undefined, { status: 200, body: '' }],
  [
    `PUT ${path}`,
    { 'X-Expected-Entity-Length': String(Buffer.byteLength(pieces.join(''))), If: `(<{${token}}>)` },
    pieces,
    204,
  ],
  look(path, { status: 207, props: { [path]: { getcontentlength: String(Buffer.byteLength(pieces.join(''))) } } }),
  [`UNLOCK ${path}`, { 'Lock-Token': `<{${token}}>` }, undefined, 204],
  [`GET ${path}`, {}, undefined, { status: 200, body: pieces.join('') }],
]

const PIECES = ['<!doctype html>\n<title>Hel', 'lo</title>\n', '<p>From a Mac\n']
const DOUBLE = ['\0\x05\x16\x07\0\x02\0\0Mac OS X        ']

export const FINDER: Replay[] = [
  {
    client: 'Finder',
    task: 'connects',
    agent: AGENT,
    steps: [
      [
        'OPTIONS ~/',
        { Authorization: undefined, 'User-Agent': 'WebDAVLib/1.3' },
        undefined,
        { status: 401, headers: { 'www-authenticate': /^Basic realm="[^"]+"/, ...IS_DAV } },
      ],
      ['OPTIONS ~/', {}, undefined, { status: 200, headers: { ...IS_DAV, allow: /\bLOCK\b/, 'content-length': '0' } }],
      ['PROPFIND ~/', { Depth: '0', 'Content-Type': 'text/xml' }, FACTS, { status: 207, headers: IS_DAV }],
      [
        'PROPFIND /',
        { Depth: '0' },
        QUOTA,
        {
          status: 207,
          props: {
            '/': { 'quota-available-bytes': 404, 'quota-used-bytes': 404, quota: 404, quotaused: 404 },
          },
        },
      ],
      [
        'PROPFIND /',
        { Depth: '1' },
        LISTING,
        {
          status: 207,
          paths: ['/'],
          props: {
            '/': { resourcetype: 'collection', '{http://www.apple.com/webdav_fs/props/}appledoubleheader': 404 },
          },
        },
      ],
      ...probes,
    ],
  },
  {
    client: 'Finder',
    task: 'copies a page in',
    agent: AGENT,
    steps: [
      ...copyIn('/x.html', PIECES, 'T'),
      ['visitor GET /x.html', {}, undefined, { status: 200, body: PIECES.join('') }],
      ...copyIn('/._x.html', DOUBLE, 'U'),
      ['visitor GET /._x.html', {}, undefined, 404],
      ['PROPFIND /', { Depth: '1' }, LISTING, { status: 207, paths: ['/', '/x.html'] }],
    ],
    events: { '/x.html': ['PUT'], '/._x.html': [] },
  },
  {
    client: 'Finder',
    task: 'copies a picture in, and visitors never see half of a page',
    agent: AGENT,
    steps: [
      ...copyIn('/photo.png', ['\x89PNG', 'more'], 'T'),
      ['PUT /y.html', {}, '', 201],
      ['visitor GET /y.html', {}, undefined, 404],
      [
        'LOCK /y.html',
        { Depth: '0', Timeout: 'Second-600' },
        lockinfo(OWNER),
        { status: 200, keep: { T: 'token of the body' } },
      ],
      ['visitor GET /y.html', {}, undefined, 404],
      ['PUT /y.html', { 'X-Expected-Entity-Length': '999', If: '(<{T}>)' }, '', 400],
      ['PUT /y.html', { If: '(<{T}>)' }, PIECES, 204],
      ['visitor GET /y.html', {}, undefined, 200],
      ['UNLOCK /y.html', { 'Lock-Token': '<{T}>' }, undefined, 204],
    ],
  },
  {
    client: 'Finder',
    task: 'edits for long',
    agent: AGENT,
    before: { '/x.html': page('Before') },
    steps: [
      [
        'LOCK /x.html',
        { Depth: '0', Timeout: 'Second-600' },
        lockinfo(OWNER),
        { status: 200, keep: { T: 'token of the body' } },
      ],
      ...Array.from(
        { length: 3 },
        (): Step => [
          'LOCK /x.html',
          { Depth: '0', Timeout: 'Second-600', If: '(<{T}>)' },
          '',
          { status: 200, body: /Second-(600|59\d)/, headers: { 'lock-token': null }, same: { T: 'token of the body' } },
        ],
      ),
      ['PUT /x.html', { If: '(<{T}>)' }, [page('After')], 204],
      ['visitor GET /x.html', {}, undefined, { status: 200, body: page('After') }],
      ['UNLOCK /x.html', { 'Lock-Token': '<{T}>' }, undefined, 204],
    ],
    events: { '/x.html': ['PUT'] },
  },
  {
    client: 'Finder',
    task: 'renames, and deletes a folder',
    agent: AGENT,
    before: { '/x.txt': 'x', '/old.txt': 'old' },
    steps: [
      ['MOVE /x.txt', { Destination: '{origin}{here}/y.txt' }, undefined, 201],
      ['MOVE /y.txt', { Destination: '{origin}{here}/old.txt' }, undefined, 204],
      ['GET /old.txt', {}, undefined, { status: 200, body: 'x' }],
      ['MKCOL /folder/', {}, undefined, 201],
      ['PUT /folder/.DS_Store', {}, 'Bud1', 201],
      ['PUT /folder/._z', {}, DOUBLE[0], 201],
      [
        'PROPFIND /folder/',
        { Depth: '1' },
        propfind('resourcetype'),
        { status: 207, paths: ['/folder/'], props: { '/folder/': { resourcetype: 'collection' } } },
      ],
      ['visitor GET /folder/.DS_Store', {}, undefined, 404],
      ['DELETE /folder/', {}, undefined, 204],
      look('/folder/', 404),
    ],
  },
  {
    client: 'Finder',
    task: 'revalidates by date alone',
    agent: AGENT,
    before: { '/x.txt': 'first' },
    steps: [
      ['GET /x.txt', {}, undefined, { status: 200, keep: { M: 'last-modified' } }],
      ['GET /x.txt', { 'If-Modified-Since': '{M}' }, undefined, 304],
      ['PUT /x.txt', {}, 'other', 204],
      ['GET /x.txt', { 'If-Modified-Since': '{M}' }, undefined, { status: 200, body: 'other' }],
      ['PUT /x.txt', {}, 'third', 204],
      ['GET /x.txt', { 'If-Modified-Since': '{M}' }, undefined, { status: 200, body: 'third' }],
    ],
  },
  {
    client: 'TextEdit',
    task: 'saves safely',
    agent: AGENT,
    before: { '/x.html': page('Before') },
    steps: [
      ['MKCOL /x.html.sb-1a2b3c4d-Xy12Zq', {}, undefined, 201],
      ['PUT /x.html.sb-1a2b3c4d-Xy12Zq/x.html', {}, '', 201],
      [
        'LOCK /x.html.sb-1a2b3c4d-Xy12Zq/x.html',
        { Depth: '0', Timeout: 'Second-600' },
        lockinfo(OWNER),
        { status: 200, keep: { T: 'token of the body' } },
      ],
      ['PUT /x.html.sb-1a2b3c4d-Xy12Zq/x.html', { If: '(<{T}>)' }, [page('After')], 204],
      ['UNLOCK /x.html.sb-1a2b3c4d-Xy12Zq/x.html', { 'Lock-Token': '<{T}>' }, undefined, 204],
      ['visitor GET /x.html.sb-1a2b3c4d-Xy12Zq/x.html', {}, undefined, 404],
      ['visitor GET /x.html', {}, undefined, { status: 200, body: page('Before') }],
      ['MOVE /x.html.sb-1a2b3c4d-Xy12Zq/x.html', { Destination: '{origin}{here}/x.html' }, undefined, 204],
      ['DELETE /x.html.sb-1a2b3c4d-Xy12Zq', {}, undefined, 204],
      ['visitor GET /x.html', {}, undefined, { status: 200, body: page('After') }],
      ['PROPFIND /', { Depth: '1' }, LISTING, { status: 207, paths: ['/', '/x.html'] }],
    ],
    events: { '/x.html': ['PUT'] },
  },
]
