/** Programs that keep their data on a WebDAV drive: git, Zotero, Joplin, OmniFocus, KeePass. */

import type { Replay } from '../replay.ts'
import { IS_DAV, lockinfo, propfind } from './requests.ts'

const TEXT_XML = { 'Content-Type': 'text/xml; charset=utf-8' }
const SIZE = "<propfind xmlns='DAV:'><prop><getcontentlength/></prop></propfind>"
const DATES = "<propfind xmlns='DAV:'><prop><getlastmodified/></prop></propfind>"
const DATA = '<properties version="1"><mtime>1700000000000</mtime><hash>ab</hash></properties>'

/** Joplin sends a tag that is none, with everything but GET and HEAD, so that no cache of iOS answers. */
const JOPLIN = { 'If-None-Match': 'JoplinIgnore-48213' }
const JOPLIN_FACTS =
  '<?xml version="1.0" encoding="UTF-8"?>\n<d:propfind xmlns:d="DAV:"><d:prop xmlns:oc="http://owncloud.org/ns"><d:getlastmodified/><d:resourcetype/></d:prop></d:propfind>'

/** Objects get a name that holds the token of the lock on the branch, until they are whole. */
const HALF = '/r.git/objects/ab/cdef0123456789_{T}'

export const SYNC: Replay[] = [
  {
    client: 'git',
    task: 'pushes to an address with a user name in it',
    agent: 'git/2.39.5',
    steps: [
      ['MKCOL /r.git/', {}, undefined, 201],
      ['GET /r.git/info/refs?service=git-receive-pack', { Pragma: 'no-cache' }, undefined, 404],
      [
        'PROPFIND /r.git/',
        { Depth: '0', 'Content-Type': 'text/xml', Expect: '100-continue' },
        '<?xml version="1.0" encoding="utf-8" ?>\n<D:propfind xmlns:D="DAV:">\n<D:prop xmlns:R="{here}/r.git/">\n<D:supportedlock/>\n</D:prop>\n</D:propfind>',
        { status: 207, body: /<D:exclusive\/>.*<D:write\/>/ },
      ],
      ['MKCOL /r.git/refs/', {}, undefined, 201],
      [
        'LOCK /r.git/refs/main',
        { Timeout: 'Second-600', 'Content-Type': 'text/xml' },
        lockinfo('<D:href>mailto:ada@example.org</D:href>'),
        { status: 201, keep: { T: 'token of the body' } },
      ],
      ['MKCOL /r.git/objects/', {}, undefined, 201],
      ['MKCOL /r.git/objects/ab/', {}, undefined, 201],
      [`PUT ${HALF}`, {}, 'object', 201],
      [
        `MOVE ${HALF}`,
        { Destination: 'http://{user}:secret@{authority}{here}/r.git/objects/ab/cdef0123456789', Overwrite: 'T' },
        undefined,
        201,
      ],
      ['PUT /r.git/refs/main', { If: '(<{T}>)' }, 'abcdef0123456789\n', 204],
      ['UNLOCK /r.git/refs/main', { 'Lock-Token': '<{T}>' }, undefined, 204],
      [
        'PROPFIND /r.git/refs/',
        { Depth: '1', 'Content-Type': 'text/xml' },
        '<?xml version="1.0" encoding="utf-8" ?>\n<D:propfind xmlns:D="DAV:">\n<D:allprop/>\n</D:propfind>',
        { status: 207, paths: ['/r.git/refs/', '/r.git/refs/main'] },
      ],
      ['visitor GET /r.git/objects/ab/cdef0123456789', {}, undefined, { status: 200, body: 'object' }],
    ],
  },
  {
    client: 'Zotero',
    task: 'tries the server and stores an attachment',
    agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:115.0) Gecko/20100101 Zotero/7.0.8',
    steps: [
      ['OPTIONS /zotero/', {}, undefined, { status: 200, headers: IS_DAV }],
      ['PROPFIND /zotero/', { Depth: '0', ...TEXT_XML }, SIZE, 404],
      ['MKCOL /zotero/', {}, undefined, 201],
      ['PROPFIND /zotero/', { Depth: '0', ...TEXT_XML }, SIZE, 207],
      ['GET /zotero/nonexistent.prop', {}, undefined, 404],
      ['PUT /zotero/zotero-test-file.prop', { 'Content-Type': 'text/plain;charset=UTF-8' }, ' ', 201],
      ['GET /zotero/zotero-test-file.prop', {}, undefined, { status: 200, body: ' ' }],
      ['DELETE /zotero/zotero-test-file.prop', {}, undefined, 204],
      ['PUT /zotero/ABCD1234.zip', { 'Content-Type': 'application/zip' }, 'PK\x03\x04', 201],
      ['PUT /zotero/ABCD1234.prop', { 'Content-Type': 'text/xml' }, DATA, 201],
      ['GET /zotero/ABCD1234.prop', {}, undefined, { status: 200, body: DATA }],
      [
        'PROPFIND /zotero/',
        { Depth: '1', ...TEXT_XML },
        DATES,
        {
          status: 207,
          paths: ['/zotero/', '/zotero/ABCD1234.prop', '/zotero/ABCD1234.zip'],
          props: { '/zotero/ABCD1234.prop': { getlastmodified: /GMT$/ } },
        },
      ],
    ],
  },
  {
    client: 'Joplin',
    task: 'makes its folders and saves notes',
    agent: 'Mozilla/5.0 Joplin/1.0',
    steps: [
      ['PROPFIND /Joplin', { ...JOPLIN, Depth: '0', 'Content-Type': 'text/xml' }, JOPLIN_FACTS, 404],
      ['MKCOL /Joplin', JOPLIN, undefined, 201],
      ['MKCOL /Joplin/.resource', JOPLIN, undefined, 201],
      ['MKCOL /Joplin/.resource', JOPLIN, undefined, 405],
      ['PUT /Joplin/info.json', { ...JOPLIN, 'Content-Type': 'text/plain' }, '{"version":3}', 201],
      ['PUT /Joplin/info.json', { ...JOPLIN, 'Content-Type': 'text/plain' }, '{"version":4}', 204],
      ['PUT /Joplin/0123456789abcdef0123456789abcdef.md', JOPLIN, 'Note\n', 201],
      [
        'PROPFIND /Joplin',
        { ...JOPLIN, Depth: '1', 'Content-Type': 'text/xml' },
        JOPLIN_FACTS,
        {
          status: 207,
          paths: ['/Joplin', '/Joplin/.resource', '/Joplin/0123456789abcdef0123456789abcdef.md', '/Joplin/info.json'],
          props: { '/Joplin/info.json': { resourcetype: '', getlastmodified: /GMT$/ } },
        },
      ],
      ['DELETE /Joplin/info.json', JOPLIN, undefined, 204],
    ],
  },
  {
    client: 'OmniFocus',
    task: 'makes its database aside and moves it by its tag',
    agent: 'OmniFocus/4.3 CFNetwork/1494 Darwin/23.4.0',
    steps: [
      ['MKCOL /tmp.ofocus/', {}, undefined, 201],
      ['PUT /tmp.ofocus/00000000000000=a+b.zip', { 'Content-Type': 'application/zip' }, 'PK', 201],
      ['PROPFIND /tmp.ofocus/', { Depth: '0' }, propfind('getetag'), { status: 207, keep: { E: 'etag' } }],
      [
        'MOVE /tmp.ofocus/',
        { Destination: '{origin}{here}/f.ofocus/', Overwrite: 'F', 'If-Match': '{E}' },
        undefined,
        201,
      ],
      [
        'PROPFIND /f.ofocus/',
        { Depth: '1' },
        propfind('resourcetype', 'getetag'),
        { status: 207, body: /\/00000000000000=a\+b\.zip</, paths: ['/f.ofocus/', '/f.ofocus/00000000000000=a+b.zip'] },
      ],
    ],
  },
  {
    client: 'KeePass',
    task: 'saves by a transaction',
    agent: 'Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1)',
    before: { '/db.kdbx': 'old' },
    steps: [
      ['GET /db.kdbx.tmp', {}, undefined, 404],
      ['PUT /db.kdbx.tmp', { Expect: '100-continue' }, 'new', 201],
      ['DELETE /db.kdbx', {}, undefined, 204],
      ['MOVE /db.kdbx.tmp', { Destination: '{origin}{here}/db.kdbx', 'Content-Length': '0' }, undefined, 201],
      ['GET /db.kdbx', {}, undefined, { status: 200, body: 'new' }],
      ['GET /db.kdbx.tmp', {}, undefined, 404],
    ],
  },
]
