/** Tools for deployment and transfer: rclone, cadaver, curl, Cyberduck and the like. */

import { createHash } from 'node:crypto'
import type { Replay } from '../replay.ts'
import { lockinfo, page, propfind } from './requests.ts'

const RCLONE = 'rclone/v1.68.2'
const SUMS = '{http://owncloud.org/ns}checksums'
const FACTS = propfind('displayname', 'getlastmodified', 'getcontentlength', 'resourcetype', 'getcontenttype', SUMS)
const sum = (name: string, text: string) => createHash(name).update(text).digest('hex')

const PATCH =
  '<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><mood xmlns="urn:example">calm &amp; <b>bold</b></mood></D:prop></D:set></D:propertyupdate>'
const MODIFIED =
  '<?xml version="1.0"?><d:propertyupdate xmlns:d="DAV:"><d:set><d:prop><d:lastmodified>1700000000</d:lastmodified></d:prop></d:set></d:propertyupdate>'
const MOUNTAIN_DUCK =
  '<?xml version="1.0"?><D:propertyupdate xmlns:D="DAV:" xmlns:S="urn:schemas-microsoft-com:"><D:set><D:prop><S:Win32LastModifiedTime>Tue, 14 Nov 2023 22:13:20 GMT</S:Win32LastModifiedTime></D:prop></D:set></D:propertyupdate>'

export const TOOLS: Replay[] = [
  {
    client: 'rclone',
    task: 'uploads with time and checksum, and compares',
    agent: RCLONE,
    steps: [
      ['PROPFIND /deep/er', { Depth: '1' }, undefined, 404],
      ['PROPFIND /deep/er/a.txt', { Depth: '1' }, undefined, 404],
      ['MKCOL /deep/er/', {}, undefined, 409],
      ['MKCOL /deep/', {}, undefined, 201],
      ['MKCOL /deep/er/', {}, undefined, 201],
      ['MKCOL /deep/er/', {}, undefined, 405],
      [
        'PUT /deep/er/a.txt',
        { 'X-OC-Mtime': '1700000000', 'OC-Checksum': `SHA1:${sum('sha1', 'hello')}` },
        'hello',
        { status: 201, headers: { 'x-oc-mtime': 'accepted' } },
      ],
      [
        'PROPFIND /deep/er/a.txt',
        { Depth: '1' },
        FACTS,
        {
          status: 207,
          paths: ['/deep/er/a.txt'],
          // Old versions read the first propstat only.
          body: /^(?:(?!HTTP\/1\.1 404).)*HTTP\/1\.1 200/s,
          props: {
            '/deep/er/a.txt': {
              getlastmodified: 'Tue, 14 Nov 2023 22:13:20 GMT',
              getcontentlength: '5',
              [SUMS]: `SHA1:${sum('sha1', 'hello')} MD5:${sum('md5', 'hello')}`,
            },
          },
        },
      ],
      [
        'PROPFIND /deep/er/',
        { Depth: '1' },
        undefined,
        { status: 207, paths: ['/deep/er/', '/deep/er/a.txt'], props: { '/deep/er/a.txt': { getcontentlength: '5' } } },
      ],
      [
        'PROPFIND /deep/er/a.txt',
        { Depth: '1' },
        undefined,
        { status: 207, paths: ['/deep/er/a.txt'], props: { '/deep/er/a.txt': { getcontentlength: '5' } } },
      ],
      ['PUT /deep/er/a.txt', { 'OC-Checksum': `SHA1:${sum('sha1', 'other')}` }, 'hello!', 400],
      ['PUT /deep/failed.txt', { 'OC-Checksum': `MD5:${sum('md5', 'other')}` }, 'hello!', 400],
      ['DELETE /deep/failed.txt', {}, undefined, 404],
      ['GET /deep/er/a.txt', {}, undefined, { status: 200, body: 'hello' }],
      ['PROPPATCH /deep/er/a.txt', {}, MODIFIED.replace('1700000000', '1600000000'), 207],
      ['HEAD /deep/er/a.txt', {}, undefined, { status: 200, headers: { 'last-modified': /13 Sep 2020/ } }],
      ['COPY /deep/er/a.txt', { Destination: '{origin}{here}/deep/b.txt', Overwrite: 'T' }, undefined, 201],
      ['MOVE /deep/er/', { Destination: '{origin}{here}/moved/', Overwrite: 'F' }, undefined, 201],
      ['GET /moved/a.txt', {}, undefined, { status: 200, body: 'hello' }],
      ['DELETE /deep/b.txt', {}, undefined, 204],
      ['DELETE /deep/b.txt', {}, undefined, 404],
    ],
  },
  {
    client: 'cadaver',
    task: 'goes through RFC 4918',
    agent: 'cadaver/0.24 neon/0.32.5',
    steps: [
      ['MKCOL /c/', {}, undefined, 201],
      ['PUT /c/a.txt', {}, 'a', 201],
      ['GET /c/a.txt', {}, undefined, { status: 200, body: 'a' }],
      ['COPY /c/a.txt', { Destination: '{origin}{here}/c/b.txt', Overwrite: 'T' }, undefined, 201],
      ['MOVE /c/b.txt', { Destination: '{origin}{here}/c/d.txt', Overwrite: 'T' }, undefined, 201],
      [
        'LOCK /c/d.txt',
        { Depth: '0', Timeout: 'Second-600' },
        lockinfo('ada'),
        { status: 200, keep: { T: 'token of the header' } },
      ],
      [
        'PROPFIND /c/d.txt',
        { Depth: '0' },
        propfind('lockdiscovery'),
        { status: 207, props: { '/c/d.txt': { lockdiscovery: /ada/ } } },
      ],
      ['PROPPATCH /c/d.txt', {}, PATCH, 423],
      [
        'PROPPATCH /c/d.txt',
        { If: '<{here}/c/d.txt> (<{T}>)' },
        PATCH,
        { status: 207, props: { '/c/d.txt': { '{urn:example}mood': '' } } },
      ],
      [
        'PROPFIND /c/d.txt',
        { Depth: '0' },
        propfind('{urn:example}mood'),
        { status: 207, props: { '/c/d.txt': { '{urn:example}mood': 'calm & bold' } } },
      ],
      ['UNLOCK /c/d.txt', { 'Lock-Token': '<{T}>' }, undefined, 204],
      ['DELETE /c/', {}, undefined, 204],
      ['PROPFIND /c/', { Depth: '0' }, propfind('resourcetype'), 404],
    ],
  },
  {
    client: 'Cyberduck',
    task: 'uploads when it may, sets times, and finds its lock again',
    agent: 'Cyberduck/9.0.2.42108 (Mac OS X/14.6) (aarch64)',
    steps: [
      ['PROPFIND /', { Depth: '1' }, undefined, { status: 207, paths: ['/'] }],
      ['PUT /a.html', { Expect: '100-continue' }, [page('One'), '<p>Two\n'], 201],
      ['PUT /b.html', { Expect: '100-continue' }, page('One'), 201],
      ['PROPPATCH /a.html', {}, MODIFIED, { status: 207, props: { '/a.html': { lastmodified: '' } } }],
      [
        'PROPPATCH /b.html',
        {},
        MOUNTAIN_DUCK,
        { status: 207, props: { '/b.html': { '{urn:schemas-microsoft-com:}Win32LastModifiedTime': '' } } },
      ],
      [
        'PROPFIND /',
        { Depth: '1' },
        propfind('getlastmodified'),
        {
          status: 207,
          paths: ['/', '/a.html', '/b.html'],
          props: {
            '/a.html': { getlastmodified: 'Tue, 14 Nov 2023 22:13:20 GMT' },
            '/b.html': { getlastmodified: 'Tue, 14 Nov 2023 22:13:20 GMT' },
          },
        },
      ],
      ['LOCK /a.html', { Depth: '0' }, lockinfo('ada'), { status: 200, keep: { T: 'token of the header' } }],
      [
        'PROPFIND /a.html',
        { Depth: '0' },
        propfind('lockdiscovery'),
        { status: 207, props: { '/a.html': { lockdiscovery: /opaquelocktoken:/ } }, keep: { F: 'token of the body' } },
      ],
      ['PUT /a.html', { If: '(<{F}>)' }, page('Edited'), 204],
      ['UNLOCK /a.html', { 'Lock-Token': '<{F}>' }, undefined, 204],
      ['visitor GET /a.html', {}, undefined, { status: 200, body: page('Edited') }],
    ],
    events: { '/a.html': ['PUT', 'PUT'], '/b.html': ['PUT'] },
  },
  {
    client: 'Transmit',
    task: 'copies a folder tree in and out',
    agent: 'Transmit/5.10.8',
    steps: [
      ['MKCOL /tree/', {}, undefined, 201],
      ['PUT /tree/one.css', { 'Transfer-Encoding': 'chunked' }, '3\r\na{}\r\n0\r\n\r\n', 201],
      ['PUT /tree/two.css', {}, 'b{}', 201],
      [
        'PROPFIND /tree/',
        { Depth: '1' },
        propfind('getcontentlength', 'resourcetype'),
        {
          status: 207,
          paths: ['/tree/', '/tree/one.css', '/tree/two.css'],
          props: { '/tree/one.css': { getcontentlength: '3' }, '/tree/two.css': { getcontentlength: '3' } },
        },
      ],
      [
        'GET /tree/one.css',
        { Range: 'bytes=1-' },
        undefined,
        { status: 206, headers: { 'content-range': 'bytes 1-2/3' }, body: '{}' },
      ],
      ['DELETE /tree/', {}, undefined, 204],
    ],
  },
  {
    client: 'curl',
    task: 'uploads and lists',
    agent: 'curl/8.5.0',
    steps: [
      ['PUT /hello.html', { Accept: '*/*' }, page('Hello'), 201],
      ['PROPFIND ', { Accept: '*/*' }, undefined, { status: 207, paths: ['/', '/hello.html'] }],
      ['PROPFIND /', { Accept: '*/*', Depth: 'infinity' }, undefined, { status: 403, body: /propfind-finite-depth/ }],
      [
        'GET /hello.html',
        { Accept: '*/*' },
        undefined,
        { status: 200, body: page('Hello'), headers: { etag: /^"/, 'last-modified': /GMT$/ } },
      ],
      ['visitor GET /hello.html', {}, undefined, { status: 200, body: page('Hello') }],
      ['PUT /hello.html', { 'If-None-Match': '*' }, 'lost', 412],
      ['PUT /hello.html', { 'If-Match': '"not-this"' }, 'lost', 412],
      ['DELETE /hello.html', {}, undefined, 204],
      ['visitor GET /hello.html', {}, undefined, 404],
    ],
    events: { '/hello.html': ['PUT', 'DELETE'] },
  },
  {
    client: 'A script',
    task: 'knows at once which version it has written',
    agent: 'python-requests/2.32.3',
    steps: [
      ['PUT /page.html', {}, page('One'), { status: 201, headers: { etag: /^"/ }, keep: { E: 'etag' } }],
      ['HEAD /page.html', {}, undefined, { status: 200, same: { E: 'etag' } }],
      [
        'PROPFIND /page.html',
        { Depth: '0' },
        propfind('getetag'),
        { status: 207, props: { '/page.html': { getetag: /^"/ } } },
      ],
      ['PUT /page.html', { 'If-Match': '{E}' }, page('Two'), { status: 204, headers: { etag: /^"/ } }],
      ['PUT /page.html', { 'If-Match': '{E}' }, page('Lost'), 412],
      ['GET /page.html', { 'If-None-Match': '{E}' }, undefined, { status: 200, body: page('Two') }],
    ],
  },
  {
    client: 'A script',
    task: 'loses no update, whatever the method',
    agent: 'python-requests/2.32.3',
    before: { '/a.txt': 'a', '/b.txt': 'b' },
    steps: [
      ['HEAD /a.txt', {}, undefined, { status: 200, keep: { E: 'etag' } }],
      ['PUT /a.txt', {}, 'newer', { status: 204, keep: { N: 'etag' } }],
      ['PUT /a.txt', { 'If-Match': '{E}' }, 'lost', 412],
      ['PUT /a.txt', { If: '([{E}])' }, 'lost', 412],
      ['PUT /a.txt', { 'If-None-Match': '*' }, 'lost', 412],
      ['PUT /a.txt', { 'If-Unmodified-Since': 'Thu, 01 Jan 2015 00:00:00 GMT' }, 'lost', 412],
      ['DELETE /a.txt', { 'If-Match': '{E}' }, undefined, 412],
      ['DELETE /a.txt', { If: '([{E}])' }, undefined, 412],
      ['MOVE /a.txt', { Destination: '{origin}{here}/c.txt', 'If-Match': '{E}' }, undefined, 412],
      ['COPY /a.txt', { Destination: '{origin}{here}/c.txt', 'If-Match': '{E}' }, undefined, 412],
      ['COPY /b.txt', { Destination: '{origin}{here}/a.txt', Overwrite: 'F' }, undefined, 412],
      ['COPY /b.txt', { Destination: '{here}/a.txt', If: '<{here}/a.txt> ([{E}])' }, undefined, 412],
      ['PROPPATCH /a.txt', { If: '([{E}])' }, PATCH, 412],
      ['GET /c.txt', {}, undefined, 404],
      ['GET /a.txt', {}, undefined, { status: 200, body: 'newer' }],
      ['PUT /a.txt', { If: '([{N}])', 'If-Match': '{N}' }, 'newest', 204],
    ],
  },
  {
    client: 'Any client',
    task: 'renames and copies where a proxy ends TLS',
    agent: 'WebDAVFS/3.0.0 (03008000) Darwin/23.6.0 (arm64)',
    before: { '/a.txt': 'a' },
    steps: [
      ['MOVE /a.txt', { Destination: 'https://{authority}{here}/b.txt' }, undefined, 201],
      ['COPY /b.txt', { Destination: 'http://{authority}{here}/c.txt' }, undefined, 201],
      ['COPY /b.txt', { Destination: '{here}/d.txt' }, undefined, 201],
      ['MOVE /b.txt', { Destination: 'https://elsewhere.example{here}/e.txt' }, undefined, 502],
      ['GET /c.txt', {}, undefined, { status: 200, body: 'a' }],
      ['GET /d.txt', {}, undefined, { status: 200, body: 'a' }],
      ['GET /b.txt', {}, undefined, { status: 200, body: 'a' }],
    ],
  },
]
