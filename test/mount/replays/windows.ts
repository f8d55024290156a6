/** Windows Explorer on a mapped drive: the WebClient service. */

import type { Replay, Step } from '../replay.ts'
import { IS_DAV, lockinfo, page, propfind, XML } from './requests.ts'

const AGENT = 'Microsoft-WebDAV-MiniRedir/10.0.22631'
const PLAIN = { translate: 'f' }
const NOTHING = { ...PLAIN, 'Content-Length': '0' }
const WIN32 = 'urn:schemas-microsoft-com:'
const TIME = 'Sat, 14 Mar 2026 09:26:53 GMT'

const propertyupdate = (...names: string[]) =>
  `<?xml version="1.0" encoding="utf-8" ?><D:propertyupdate xmlns:D="DAV:" xmlns:Z="${WIN32}"><D:set><D:prop>${names
    .map(name => `<Z:${name}>${name === 'Win32FileAttributes' ? '00000020' : TIME}</Z:${name}>`)
    .join('')}</D:prop></D:set></D:propertyupdate>`

const TIMES = ['Win32CreationTime', 'Win32LastAccessTime', 'Win32LastModifiedTime', 'Win32FileAttributes']

/** Names have to come back with their namespace, or Explorer deletes what it has uploaded. */
const allSet = (path: string, names: readonly string[]) => ({
  status: 207,
  props: { [path]: Object.fromEntries(names.map(name => [`{${WIN32}}${name}`, ''])) },
})

const look = (path: string, expected: Step[3]): Step => [`PROPFIND ${path}`, { ...NOTHING, Depth: '0' }, '', expected]

/** Explorer walks down from the root of the origin. */
const walk = (path: string): Step[] => [
  [`OPTIONS ${path}`, PLAIN, undefined, { status: 200, headers: IS_DAV }],
  look(path, { status: 207, headers: { location: null } }),
]

export const WINDOWS: Replay[] = [
  {
    client: 'Windows Explorer',
    task: 'maps a drive',
    agent: AGENT,
    before: { '/a.txt': 'a' },
    steps: [
      ['OPTIONS ~/', { ...PLAIN, Authorization: undefined }, undefined, { status: 401, headers: IS_DAV }],
      ...walk('//'),
      ...walk('~'),
      ...walk(''),
      [
        'PROPFIND ',
        { ...NOTHING, Depth: '1' },
        '',
        {
          status: 207,
          paths: ['/', '/a.txt'],
          props: {
            '/': { resourcetype: 'collection', creationdate: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/, getlastmodified: /GMT$/ },
            '/a.txt': { resourcetype: '', getcontentlength: '1', getlastmodified: /GMT$/ },
          },
        },
      ],
      look('/desktop.ini', 404),
      look('/Thumbs.db', 404),
    ],
  },
  {
    client: 'Windows Explorer',
    task: 'copies a page in',
    agent: AGENT,
    steps: [
      look('/page.html', 404),
      ['PUT /page.html', NOTHING, '', 201],
      [
        'LOCK /page.html',
        { ...PLAIN, Timeout: 'Second-3600', 'Content-Type': XML },
        lockinfo('<D:href>DESKTOP\\ada</D:href>'),
        { status: 200, body: /Second-(3600|359\d)/, keep: { T: 'token of the header' } },
      ],
      [
        'PROPPATCH /page.html',
        { ...PLAIN, If: '(<{T}>)', 'Content-Type': XML },
        propertyupdate(...TIMES),
        allSet('/page.html', TIMES),
      ],
      ['HEAD /page.html', PLAIN, undefined, 200],
      ['visitor GET /page.html', {}, undefined, 404],
      ['PUT /page.html', { ...PLAIN, If: '(<{T}>)' }, page('From Windows'), 204],
      [
        'PROPPATCH /page.html',
        { ...PLAIN, If: '(<{T}>)', 'Content-Type': XML },
        propertyupdate('Win32LastModifiedTime', 'Win32FileAttributes'),
        allSet('/page.html', ['Win32LastModifiedTime', 'Win32FileAttributes']),
      ],
      ['UNLOCK /page.html', { ...PLAIN, 'Lock-Token': '<{T}>' }, undefined, 204],
      look('/page.html', {
        status: 207,
        props: { '/page.html': { getcontentlength: String(page('From Windows').length), getlastmodified: TIME } },
      }),
      ['visitor GET /page.html', {}, undefined, { status: 200, body: page('From Windows') }],
    ],
    events: { '/page.html': ['PUT'] },
  },
  {
    client: 'Windows Explorer',
    task: 'makes and renames a folder',
    agent: AGENT,
    steps: [
      ['MKCOL /New%20folder', PLAIN, undefined, 201],
      look('/New%20folder', { status: 207, props: { '/New folder/': { resourcetype: 'collection' } } }),
      ['PROPPATCH /New%20folder', PLAIN, propertyupdate(...TIMES), allSet('/New folder/', TIMES)],
      ['MOVE /New%20folder', { ...PLAIN, Destination: '{origin}{here}/Notes', Overwrite: 'F' }, undefined, 201],
      look('/Notes', { status: 207, props: { '/Notes/': { resourcetype: 'collection' } } }),
      look('/New%20folder', 404),
      ['MKCOL /New%20folder', PLAIN, undefined, 201],
      ['MOVE /New%20folder', { ...PLAIN, Destination: '{origin}{here}/Notes', Overwrite: 'F' }, undefined, 412],
    ],
  },
  {
    client: 'Windows Explorer',
    task: 'leaves nothing of its own on the site',
    agent: AGENT,
    steps: [
      ['PUT /desktop.ini', PLAIN, '[.ShellClassInfo]', 201],
      ['PUT /Thumbs.db', PLAIN, 'thumbs', 201],
      ['GET /desktop.ini', PLAIN, undefined, { status: 200, body: '[.ShellClassInfo]' }],
      ['visitor GET /desktop.ini', {}, undefined, 404],
      ['visitor GET /Thumbs.db', {}, undefined, 404],
      ['PROPFIND /', { ...PLAIN, Depth: '1' }, propfind('resourcetype'), { status: 207, paths: ['/'] }],
    ],
    events: { '/desktop.ini': [], '/Thumbs.db': [] },
  },
]
