/** Microsoft Office, from a link, on a mapped drive, and with two authors; LibreOffice. */

import type { Replay, Step } from '../replay.ts'
import { IS_DAV, lockinfo, propfind, XML } from './requests.ts'

const OFFICE = 'Microsoft Office Word 2014 (16.0.17328) Windows NT 10.0'
const REDIRECTOR = 'Microsoft-WebDAV-MiniRedir/10.0.22631'
const OWNER = 'Ada &amp; Co'
/** Office shows it to the author who comes second. */
const VERBATIM = /<(\w+:)?owner[^>]*>Ada &amp; Co<\/(\w+:)?owner>/

const DISCOVERY = propfind('lockdiscovery')

/** What an owner file goes through: it is how editors warn each other. */
const ownerFile = (path: string, content: string): Step[] => [
  [`PUT ${path}`, { 'Content-Length': '0' }, '', 201],
  [
    `LOCK ${path}`,
    { Timeout: 'Second-3600', 'Content-Type': XML },
    lockinfo(OWNER),
    { status: 200, keep: { F: 'token of the header' } },
  ],
  [`PUT ${path}`, { If: '(<{F}>)' }, content, 204],
  [`UNLOCK ${path}`, { 'Lock-Token': '<{F}>' }, undefined, 204],
  [`GET ${path}`, {}, undefined, { status: 200, body: content }],
]

const take = (path: string, token: string): Step => [
  `LOCK ${path}`,
  { Timeout: 'Second-3600', 'Content-Type': XML },
  lockinfo(OWNER),
  { status: 200, keep: { [token]: 'token of the header' } },
]

export const OFFICE_REPLAYS: Replay[] = [
  {
    client: 'Office',
    task: 'opens a document by its link and saves it',
    agent: OFFICE,
    before: { '/plan.docx': 'first' },
    steps: [
      ['OPTIONS /plan.docx', { Authorization: 'Bearer' }, undefined, { status: [200, 401], headers: IS_DAV }],
      [
        'OPTIONS /plan.docx',
        { Authorization: 'Bearer', 'User-Agent': 'Mozilla/4.0 (compatible; MS FrontPage 4.0)' },
        undefined,
        { status: 401, headers: { ...IS_DAV, 'www-authenticate': /^Basic / } },
      ],
      ['OPTIONS ', {}, undefined, { status: 200, headers: { ...IS_DAV, allow: /\bLOCK\b/ } }],
      ['OPTIONS /plan.docx', {}, undefined, { status: 200, headers: IS_DAV }],
      ['HEAD /plan.docx', {}, undefined, { status: 200, headers: { etag: /^"/, 'content-length': '5' } }],
      ['HEAD ', {}, undefined, 200],
      [
        'LOCK /plan.docx',
        { Timeout: 'Second-3600', 'Content-Type': XML },
        lockinfo(OWNER),
        { status: 200, body: VERBATIM, keep: { T: 'token of the header' } },
      ],
      ['GET /plan.docx', {}, undefined, { status: 200, body: 'first' }],
      [
        'PROPFIND /plan.docx',
        { Depth: '0' },
        DISCOVERY,
        { status: 207, body: VERBATIM, props: { '/plan.docx': { lockdiscovery: /Second-\d+/ } } },
      ],
      [
        'LOCK /plan.docx',
        { Timeout: 'Second-3600', If: '(<{T}>)' },
        '',
        { status: 200, same: { T: 'token of the body' } },
      ],
      ['PUT /plan.docx', { If: '(<{T}>)' }, 'second', { status: 204, headers: { etag: /^"/ } }],
      ['UNLOCK /plan.docx', { 'Lock-Token': '<{T}>' }, undefined, 204],
      ['GET /plan.docx', {}, undefined, { status: 200, body: 'second' }],
    ],
    events: { '/plan.docx': ['PUT'] },
  },
  {
    client: 'Office',
    task: 'on a mapped drive keeps an owner file beside the document',
    agent: REDIRECTOR,
    before: { '/plan.docx': 'first' },
    steps: [
      ...ownerFile('/~$plan.docx', `\x03Ada${'\0'.repeat(158)}`),
      ['PROPFIND /~$plan.docx', { Depth: '0' }, propfind('getetag'), 207],
      ['visitor GET /~$plan.docx', {}, undefined, 404],
      ['DELETE /~$plan.docx', {}, undefined, 204],
      ['GET /~$plan.docx', {}, undefined, 404],
    ],
    events: { '/~$plan.docx': [] },
  },
  {
    client: 'Office',
    task: 'on a mapped drive saves through a temporary file',
    agent: REDIRECTOR,
    before: { '/plan.xlsx': 'first' },
    steps: [
      take('/plan.xlsx', 'T1'),
      ['PUT /5A2B3C01', { 'Content-Length': '0' }, '', 201],
      take('/5A2B3C01', 'T2'),
      ['PUT /5A2B3C01', { If: '(<{T2}>)' }, 'second', 204],
      ['visitor GET /5A2B3C01', {}, undefined, 404],
      ['UNLOCK /plan.xlsx', { 'Lock-Token': '<{T1}>' }, undefined, 204],
      ['UNLOCK /5A2B3C01', { 'Lock-Token': '<{T2}>' }, undefined, 204],
      take('/5A2B3C01', 'T3'),
      ['MOVE /5A2B3C01', { Destination: '{origin}{here}/plan.xlsx', Overwrite: 'T', If: '(<{T3}>)' }, undefined, 204],
      ['GET /plan.xlsx', {}, undefined, { status: 200, body: 'second' }],
      ['visitor GET /plan.xlsx', {}, undefined, { status: 200, body: 'second' }],
      [
        'PROPFIND /plan.xlsx',
        { Depth: '0' },
        DISCOVERY,
        { status: 207, props: { '/plan.xlsx': { lockdiscovery: '' } } },
      ],
    ],
    events: { '/plan.xlsx': ['PUT'], '/5A2B3C01': [] },
  },
  {
    client: 'Word',
    task: 'saves by renaming the old version away',
    agent: REDIRECTOR,
    before: { '/plan.docx': 'first' },
    steps: [
      ['PUT /~WRD0000.tmp', {}, 'second', 201],
      ['MOVE /plan.docx', { Destination: '{origin}{here}/~WRL0001.tmp', Overwrite: 'F' }, undefined, 201],
      ['MOVE /~WRD0000.tmp', { Destination: '{origin}{here}/plan.docx', Overwrite: 'F' }, undefined, 201],
      ['GET /~WRL0001.tmp', {}, undefined, { status: 200, body: 'first' }],
      ['DELETE /~WRL0001.tmp', {}, undefined, 204],
      ['GET /plan.docx', {}, undefined, { status: 200, body: 'second' }],
      ['visitor GET /plan.docx', {}, undefined, { status: 200, body: 'second' }],
      ['visitor GET /~WRL0001.tmp', {}, undefined, 404],
    ],
  },
  {
    client: 'Office',
    task: 'tells the second author who has the document',
    agent: OFFICE,
    before: { '/plan.docx': 'first' },
    steps: [
      take('/plan.docx', 'T'),
      [
        'LOCK /plan.docx',
        { Authorization: '{second}', Timeout: 'Second-3600', 'Content-Type': XML },
        lockinfo('Bob'),
        423,
      ],
      [
        'PROPFIND /plan.docx',
        { Authorization: '{second}', Depth: '0' },
        DISCOVERY,
        { status: 207, body: VERBATIM, props: { '/plan.docx': { lockdiscovery: /Ada & Co/ } } },
      ],
      ['PUT /plan.docx', { Authorization: '{second}', If: '(<{T}>)' }, 'stolen', { status: [423, 403, 412] }],
      ['PUT /plan.docx', { Authorization: '{second}' }, 'stolen', 423],
      ['GET /plan.docx', { Authorization: '{second}' }, undefined, { status: 200, body: 'first' }],
      ['UNLOCK /plan.docx', { 'Lock-Token': '<{T}>' }, undefined, 204],
      ['PUT /plan.docx', { Authorization: '{second}' }, 'mine', 204],
    ],
  },
  {
    client: 'LibreOffice',
    task: 'opens, saves and closes a document',
    agent: 'LibreOffice/24.8.4.2 curl/8.9.1 OpenSSL/3.0.15',
    before: { '/text.odt': 'first' },
    steps: [
      ['OPTIONS /text.odt', {}, undefined, { status: 200, headers: IS_DAV }],
      [
        'PROPFIND /text.odt',
        { Depth: '0', 'Content-Type': 'application/xml' },
        propfind('resourcetype', '{http://ucb.openoffice.org/dav/props/}IsReadOnly', 'getcontenttype', 'supportedlock'),
        {
          status: 207,
          props: {
            '/text.odt': {
              resourcetype: '',
              getcontenttype: /./,
              supportedlock: /exclusive locktype write/,
              '{http://ucb.openoffice.org/dav/props/}IsReadOnly': 404,
            },
          },
        },
      ],
      [
        'LOCK /text.odt',
        { Depth: '0', Timeout: 'Second-180', 'Content-Type': 'application/xml' },
        lockinfo('LibreOffice - http://www.libreoffice.org/'),
        { status: 200, body: /Second-(180|17\d)/, keep: { T: 'token of the body' } },
      ],
      ['GET /text.odt', {}, undefined, { status: 200, body: 'first' }],
      ['PUT /.~lock.text.odt%23', {}, '', 201],
      ['PUT /.~lock.text.odt%23', {}, ',ada,host;', 204],
      ['GET /.~lock.text.odt%23', {}, undefined, { status: 200, body: ',ada,host;' }],
      ['visitor GET /.~lock.text.odt%23', {}, undefined, 404],
      ['PUT /text.odt', { If: '(<{T}>)' }, 'second', 204],
      [
        'LOCK /text.odt',
        { Timeout: 'Second-180', If: '(<{T}>)' },
        '',
        { status: 200, body: /Second-(180|17\d)/, same: { T: 'token of the body' } },
      ],
      ['UNLOCK /text.odt', { 'Lock-Token': '<{T}>' }, undefined, 204],
      ['DELETE /.~lock.text.odt%23', {}, undefined, 204],
      ['visitor GET /text.odt', {}, undefined, { status: 200, body: 'second' }],
    ],
    events: { '/text.odt': ['PUT'], '/.~lock.text.odt#': [] },
  },
  {
    client: 'LibreOffice',
    task: 'saves a new document under a lock that made it',
    agent: 'LibreOffice/24.8.4.2 curl/8.9.1 OpenSSL/3.0.15',
    steps: [
      ['PROPFIND /new.odt', { Depth: '0' }, propfind('resourcetype'), 404],
      [
        'LOCK /new.odt',
        { Depth: '0', Timeout: 'Second-180' },
        lockinfo('LibreOffice'),
        { status: 201, keep: { T: 'token of the body' } },
      ],
      ['PUT /new.odt', { If: '(<{T}>)' }, 'content', 204],
      ['UNLOCK /new.odt', { 'Lock-Token': '<{T}>' }, undefined, 204],
      ['GET /new.odt', {}, undefined, { status: 200, body: 'content' }],
    ],
  },
]
