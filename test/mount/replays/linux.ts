/** Desktops and file systems on Linux: davfs2, GNOME (gvfs), KDE. */

import type { Replay } from '../replay.ts'
import { lockinfo, page, propfind, XML } from './requests.ts'

const DAVFS2 = 'davfs2/1.6.1 neon/0.32.5'
const GVFS = 'gvfs/1.50.3'

const EXECUTABLE = '{http://apache.org/dav/props/}executable'
const FACTS = propfind('getetag', 'getcontentlength', 'creationdate', 'getlastmodified', 'resourcetype', EXECUTABLE)

export const LINUX: Replay[] = [
  {
    client: 'davfs2',
    task: 'makes a file under a lock, and saves after a rename',
    agent: DAVFS2,
    before: { '/a.txt': 'a' },
    steps: [
      ['OPTIONS /', {}, undefined, { status: 200, headers: { dav: /\b2\b/ } }],
      [
        'PROPFIND /',
        { Depth: '1', 'Content-Type': XML },
        FACTS,
        {
          status: 207,
          paths: ['/', '/a.txt'],
          props: {
            '/a.txt': {
              getetag: /^"/,
              getcontentlength: '1',
              creationdate: /Z$/,
              getlastmodified: /GMT$/,
              resourcetype: '',
              [EXECUTABLE]: 404,
            },
          },
        },
      ],
      [
        'LOCK /new.txt',
        { Depth: '0', Timeout: 'Second-1800', 'Content-Type': XML },
        lockinfo('ada'),
        { status: 201, keep: { T: 'token of the header' } },
      ],
      [
        'PUT /new.txt',
        { If: '<{origin}{here}/new.txt> (<{T}>)' },
        'new',
        { status: [201, 204], headers: { etag: /^"/ }, keep: { E: 'etag' } },
      ],
      ['HEAD /new.txt', {}, undefined, { status: 200, headers: { 'content-length': '3' }, same: { E: 'etag' } }],
      [
        'PUT /new.txt',
        { If: '<{origin}{here}/new.txt> (<{T}>)', 'If-Match': '{E}' },
        'newer',
        { status: 204, keep: { E: 'etag' } },
      ],
      ['UNLOCK /new.txt', { 'Lock-Token': '<{T}>' }, undefined, 204],
      ['MOVE /new.txt', { Destination: '{origin}{here}/moved.txt', Overwrite: 'T' }, undefined, 201],
      [
        'LOCK /moved.txt',
        { Depth: '0', Timeout: 'Second-1800', 'Content-Type': XML },
        lockinfo('ada'),
        { status: 200, keep: { T: 'token of the header' } },
      ],
      ['PUT /moved.txt', { If: '<{origin}{here}/moved.txt> (<{T}>)', 'If-Match': '{E}' }, 'saved', 204],
      ['UNLOCK /moved.txt', { 'Lock-Token': '<{T}>' }, undefined, 204],
      ['GET /moved.txt', { 'If-None-Match': '{E}' }, undefined, { status: 200, body: 'saved', keep: { N: 'etag' } }],
      ['GET /moved.txt', { 'If-None-Match': '{N}' }, undefined, 304],
    ],
  },
  {
    client: 'davfs2',
    task: 'makes a page with If-None-Match: * under its own lock',
    agent: DAVFS2,
    steps: [
      [
        'LOCK /page.html',
        { Depth: '0', Timeout: 'Second-1800', 'Content-Type': XML },
        lockinfo('ada'),
        { status: 201, keep: { T: 'token of the header' } },
      ],
      ['visitor GET /page.html', {}, undefined, 404],
      [
        'PUT /page.html',
        { If: '<{origin}{here}/page.html> (<{T}>)', 'If-None-Match': '*' },
        page('Made'),
        { status: [201, 204], headers: { etag: /^"/ } },
      ],
      ['UNLOCK /page.html', { 'Lock-Token': '<{T}>' }, undefined, 204],
      ['visitor GET /page.html', {}, undefined, { status: 200, body: page('Made') }],
    ],
    events: { '/page.html': ['PUT'] },
  },
  {
    client: 'vim over davfs2',
    task: 'saves through a backup',
    agent: DAVFS2,
    before: { '/page.html': page('Before') },
    steps: [
      ['PUT /.page.html.swp', {}, 'b0VIM 9.0', 201],
      ['PUT /4913', {}, '', 201],
      ['DELETE /4913', {}, undefined, 204],
      ['MOVE /page.html', { Destination: '{origin}{here}/page.html~', Overwrite: 'T' }, undefined, 201],
      ['PUT /page.html', { 'If-None-Match': '*' }, page('After'), 201],
      ['DELETE /page.html~', {}, undefined, 204],
      ['DELETE /.page.html.swp', {}, undefined, 204],
      ['visitor GET /page.html', {}, undefined, { status: 200, body: page('After') }],
      ['visitor GET /.page.html.swp', {}, undefined, 404],
      ['PROPFIND /', { Depth: '1' }, FACTS, { status: 207, paths: ['/', '/page.html'] }],
    ],
  },
  {
    client: 'VS Code over davfs2',
    task: 'saves by truncating first',
    agent: DAVFS2,
    before: { '/page.html': page('Before') },
    steps: [
      ['GET /page.html', {}, undefined, { status: 200, body: page('Before'), keep: { E: 'etag' } }],
      [
        'LOCK /page.html',
        { Depth: '0', Timeout: 'Second-1800', 'Content-Type': XML },
        lockinfo('ada'),
        { status: 200, keep: { T: 'token of the header' } },
      ],
      [
        'PUT /page.html',
        { If: '<{origin}{here}/page.html> (<{T}>)', 'If-Match': '{E}', 'Content-Length': '0' },
        '',
        { status: 204, headers: { etag: /^"/ }, keep: { E: 'etag' } },
      ],
      ['HEAD /page.html', {}, undefined, { status: 200, headers: { 'content-length': '0' }, same: { E: 'etag' } }],
      ['visitor GET /page.html', {}, undefined, { status: 200, body: page('Before') }],
      [
        'PUT /page.html',
        { If: '<{origin}{here}/page.html> (<{T}>)', 'If-Match': '{E}' },
        page('After'),
        { status: 204, keep: { E: 'etag' } },
      ],
      ['HEAD /page.html', {}, undefined, { status: 200, same: { E: 'etag' } }],
      ['UNLOCK /page.html', { 'Lock-Token': '<{T}>' }, undefined, 204],
      ['visitor GET /page.html', {}, undefined, { status: 200, body: page('After') }],
    ],
    events: { '/page.html': ['PUT'] },
  },
  {
    client: 'GNOME Files',
    task: 'browses, copies in, renames and saves',
    agent: GVFS,
    steps: [
      ['OPTIONS /', {}, undefined, { status: 200, headers: { dav: /\b1\b/ } }],
      ['PUT /(1)%20caf%C3%A9.txt', { 'Content-Length': undefined }, undefined, 201],
      [
        'PROPFIND /(1)%20caf%C3%A9.txt',
        { Depth: '1' },
        FACTS,
        {
          status: 207,
          paths: ['/(1) café.txt'],
          body: /\/\(1\)%20caf%C3%A9\.txt</,
          props: { '/(1) café.txt': { getcontentlength: '0', resourcetype: '' } },
        },
      ],
      ['MKCOL /folder/', {}, undefined, 201],
      ['MKCOL /other/', {}, undefined, 201],
      ['MKCOL /folder/', {}, undefined, 405],
      ['MOVE /folder', { Destination: '{origin}{here}/other', Overwrite: 'F' }, undefined, 412],
      ['MOVE /folder', { Destination: '{origin}{here}/renamed', Overwrite: 'F' }, undefined, 201],
      ['COPY /renamed', { Destination: '{origin}{here}/copied', Overwrite: 'F' }, undefined, 201],
      ['HEAD /(1)%20caf%C3%A9.txt', {}, undefined, { status: 200, keep: { E: 'etag' } }],
      ['PUT /(1)%20caf%C3%A9.txt', { 'If-Match': '{E}' }, 'saved', 204],
      ['PUT /(1)%20caf%C3%A9.txt', { 'If-Match': '{E}' }, 'lost', 412],
      ['GET /(1)%20caf%C3%A9.txt', {}, undefined, { status: 200, body: 'saved' }],
      ['DELETE /renamed', {}, undefined, 204],
      ['DELETE /other', {}, undefined, 204],
      [
        'PROPFIND /',
        { Depth: '1' },
        FACTS,
        {
          status: 207,
          paths: ['/', '/(1) café.txt', '/copied/'],
          props: { '/copied/': { resourcetype: 'collection' } },
        },
      ],
    ],
  },
  {
    client: 'GNOME text editor',
    task: 'saves through an output stream of its own',
    agent: GVFS,
    before: { '/page.html': page('Before') },
    steps: [
      ['PUT /.goutputstream-A1B2C3', {}, page('After'), 201],
      ['visitor GET /.goutputstream-A1B2C3', {}, undefined, 404],
      ['MOVE /.goutputstream-A1B2C3', { Destination: '{origin}{here}/page.html', Overwrite: 'T' }, undefined, 204],
      ['visitor GET /page.html', {}, undefined, { status: 200, body: page('After') }],
    ],
    events: { '/page.html': ['PUT'], '/.goutputstream-A1B2C3': [] },
  },
  {
    client: 'KDE Dolphin',
    task: 'writes through a part file',
    agent: 'Mozilla/5.0 (X11; Linux x86_64) KIO/5.115',
    steps: [
      ['PROPFIND /a.txt', { Depth: '0' }, FACTS, 404],
      ['PUT /a.txt.part', { Overwrite: 'F' }, 'part', 201],
      ['MOVE /a.txt.part', { Destination: '{origin}{here}/a.txt', Overwrite: 'F', Depth: 'infinity' }, undefined, 201],
      ['PROPFIND /', { Depth: '1' }, FACTS, { status: 207, paths: ['/', '/a.txt'] }],
    ],
  },
]
