/** The one table of folders: what each is for, and what it may import. */

export interface Folder {
  /** Folder with everything below it, or a single file. The most specific row counts. */
  path: string
  /** One sentence. */
  purpose: string
  /** Rows that it may import from; each stands above it in the table. */
  imports: readonly string[]
}

const TREES = ['pipeline/tree', 'pipeline/tree/selector', 'pipeline/tree/edit']
const ROOT = [
  'pipeline/fault.ts',
  'pipeline/memory.ts',
  'pipeline/ordered-map.ts',
  'pipeline/kept-pieces.ts',
  'pipeline/kept-together.ts',
  'pipeline/own-text.ts',
  'pipeline/near.ts',
  'pipeline/compiled.ts',
  'pipeline/lazy-package.ts',
  'pipeline/authority.ts',
  'pipeline/answer.ts',
  'pipeline/body.ts',
]
const REQUESTS = [
  ...ROOT,
  'pipeline/request-value.ts',
  'pipeline/operation.ts',
  'pipeline/refusals.ts',
  'pipeline/failures.ts',
]
const LEAVES = ['pipeline/store', 'pipeline/access', 'pipeline/http', 'pipeline/coordination', 'pipeline/language']
const SITE = [
  ...LEAVES,
  'pipeline/model',
  'pipeline/react/declared',
  'pipeline/declarations',
  'pipeline/site',
  'pipeline/events',
]
const LANGUAGES = ['pipeline/language/sessel', 'pipeline/language/javascript', 'pipeline/language/liquid']

/** From the leaves up to the program: nothing imports what stands below it. */
export const FOLDERS: readonly Folder[] = [
  { path: 'pipeline/fault.ts', purpose: 'Failures that are answers: status, kind, message.', imports: [] },
  { path: 'pipeline/memory.ts', purpose: 'The memory of all caches: one limit, a share for each.', imports: [] },
  { path: 'pipeline/ordered-map.ts', purpose: 'What caches that let the oldest go keep things in.', imports: [] },
  { path: 'pipeline/kept-pieces.ts', purpose: 'Pieces of a body that stay in memory.', imports: [] },
  {
    path: 'pipeline/kept-together.ts',
    purpose: 'Things of several owners that are kept within one number of bytes.',
    imports: ['pipeline/memory.ts', 'pipeline/ordered-map.ts'],
  },
  { path: 'pipeline/own-text.ts', purpose: 'Texts that keep nothing else in memory.', imports: [] },
  { path: 'pipeline/near.ts', purpose: 'Words that are nearly others.', imports: [] },
  {
    path: 'pipeline/compiled.ts',
    purpose: 'What programs, templates, selectors and patterns were compiled to.',
    imports: ['pipeline/kept-together.ts'],
  },
  { path: 'pipeline/lazy-package.ts', purpose: 'Packages that the first use loads.', imports: [] },
  { path: 'pipeline/unless-answered.ts', purpose: 'When an answer of others is late.', imports: [] },
  { path: 'pipeline/thread.ts', purpose: 'Threads that run modules of this project.', imports: [] },
  { path: 'pipeline/tree', purpose: 'Documents as trees: parsing, writing, Microdata, work in steps.', imports: [] },
  {
    path: 'pipeline/tree/selector',
    purpose: 'The selector language.',
    imports: ['pipeline/compiled.ts', 'pipeline/own-text.ts', 'pipeline/tree'],
  },
  { path: 'pipeline/tree/edit', purpose: 'Edits of a tree that keep its bytes.', imports: ['pipeline/tree'] },
  {
    path: 'pipeline/store',
    purpose: 'The contract of stores, and what every store needs.',
    imports: ['pipeline/memory.ts'],
  },
  {
    path: 'pipeline/store/disk',
    purpose: 'Bytes in files of this machine.',
    imports: ['pipeline/ordered-map.ts', 'pipeline/kept-pieces.ts', 'pipeline/store', 'pipeline/thread.ts'],
  },
  {
    path: 'pipeline/store/records',
    purpose: 'What stores with tables share: rows, sums, index lines, checks of changes.',
    imports: ['pipeline/store'],
  },
  {
    path: 'pipeline/store/sqlite',
    purpose: 'The embedded store.',
    imports: ['pipeline/store', 'pipeline/store/disk', 'pipeline/store/records', 'pipeline/thread.ts'],
  },
  {
    path: 'pipeline/store/objects',
    purpose: 'Bytes in an object store.',
    imports: ['pipeline/lazy-package.ts', 'pipeline/unless-answered.ts', 'pipeline/store'],
  },
  {
    path: 'pipeline/store/postgres',
    purpose: 'The store of several machines, in PostgreSQL.',
    imports: [
      'pipeline/ordered-map.ts',
      'pipeline/kept-pieces.ts',
      'pipeline/unless-answered.ts',
      'pipeline/store',
      'pipeline/store/records',
      'pipeline/store/objects',
    ],
  },
  { path: 'pipeline/coordination', purpose: 'Contracts of what processes share.', imports: ['pipeline/store'] },
  {
    path: 'pipeline/coordination/local',
    purpose: 'The same for a single process.',
    imports: ['pipeline/ordered-map.ts', 'pipeline/store', 'pipeline/coordination'],
  },
  {
    path: 'pipeline/coordination/redis',
    purpose: 'The same for several processes, in Redis.',
    imports: [
      'pipeline/lazy-package.ts',
      'pipeline/unless-answered.ts',
      'pipeline/store',
      'pipeline/coordination',
      'pipeline/coordination/local',
    ],
  },
  {
    path: 'pipeline/language',
    purpose: 'Values, allowances and hashes that all languages share.',
    imports: ['pipeline/fault.ts', 'pipeline/lazy-package.ts', 'pipeline/thread.ts', ...TREES],
  },
  ...LANGUAGES.map(path => ({
    path,
    purpose: 'One language: trees and values in, values out.',
    imports: [
      'pipeline/fault.ts',
      'pipeline/compiled.ts',
      'pipeline/own-text.ts',
      'pipeline/lazy-package.ts',
      'pipeline/thread.ts',
      ...TREES,
      'pipeline/language',
    ],
  })),
  {
    path: 'pipeline/access',
    purpose: 'Rules and groups: who may do what.',
    imports: ['pipeline/fault.ts', 'pipeline/near.ts', 'pipeline/kept-together.ts', ...TREES],
  },
  {
    path: 'pipeline/authority.ts',
    purpose: 'Who decides about a request.',
    imports: ['pipeline/fault.ts', ...TREES, 'pipeline/access'],
  },
  { path: 'pipeline/answer.ts', purpose: 'What the pipeline gives back for a request.', imports: ['pipeline/store'] },
  {
    path: 'pipeline/body.ts',
    purpose: 'Bodies of requests.',
    imports: ['pipeline/fault.ts', 'pipeline/store'],
  },
  {
    path: 'pipeline/http',
    purpose: 'Fields, tags, ranges and types of HTTP.',
    imports: ['pipeline/fault.ts', 'pipeline/kept-pieces.ts', 'pipeline/own-text.ts', 'pipeline/answer.ts', ...TREES],
  },
  {
    path: 'pipeline/operation.ts',
    purpose: 'Operations: what is asked apart from what it does.',
    imports: [...TREES, ...ROOT, 'pipeline/language', 'pipeline/access', 'pipeline/http'],
  },
  {
    path: 'pipeline/request-value.ts',
    purpose: 'A request as one value, for all code that runs for it.',
    imports: [...TREES, ...ROOT, 'pipeline/language', 'pipeline/access', 'pipeline/http'],
  },
  {
    path: 'pipeline/refusals.ts',
    purpose: 'Admissions other than allowed, as failures.',
    imports: [...TREES, ...ROOT],
  },
  {
    path: 'pipeline/failures.ts',
    purpose: 'Errors of stores and coordination, as failures.',
    imports: [...TREES, ...ROOT, ...LEAVES, ...LANGUAGES, 'pipeline/refusals.ts'],
  },
  {
    path: 'pipeline/model',
    purpose: 'Data models: schemas, shapes, references, defaults.',
    // Of templates it asks where their programs are.
    imports: [...TREES, ...ROOT, ...LEAVES, 'pipeline/language/liquid'],
  },
  {
    path: 'pipeline/react/declared',
    purpose: 'Reactions as documents declare them.',
    imports: [...TREES, ...ROOT, ...LEAVES, 'pipeline/model'],
  },
  {
    path: 'pipeline/declarations',
    purpose: 'What documents declare about their site, by kind.',
    imports: [...TREES, ...ROOT, ...LEAVES, 'pipeline/model', 'pipeline/react/declared'],
  },
  {
    path: 'pipeline/site',
    purpose: 'A site in memory, kept in step with its store.',
    imports: [...TREES, ...ROOT, ...LEAVES, 'pipeline/model', 'pipeline/declarations'],
  },
  {
    path: 'pipeline/events',
    purpose: 'Event streams: who is told of what.',
    imports: [...TREES, ...ROOT, ...LEAVES, 'pipeline/model', 'pipeline/declarations', 'pipeline/site'],
  },
  {
    path: 'pipeline/evaluation',
    purpose: 'Runs the code of documents.',
    imports: [...TREES, ...REQUESTS, ...SITE, ...LANGUAGES],
  },
  {
    path: 'pipeline/compose',
    purpose: 'What a reader sees at a path, whatever documents it comes from.',
    imports: [...TREES, ...REQUESTS, ...SITE, ...LANGUAGES, 'pipeline/evaluation'],
  },
  {
    path: 'pipeline/read',
    purpose: 'GET, HEAD and QUERY.',
    imports: [...TREES, ...REQUESTS, ...SITE, ...LANGUAGES, 'pipeline/evaluation', 'pipeline/compose'],
  },
  {
    path: 'pipeline/write',
    purpose: 'PUT, POST, DELETE, MOVE and what follows from them.',
    imports: [...TREES, ...REQUESTS, ...SITE, ...LANGUAGES, 'pipeline/evaluation', 'pipeline/compose', 'pipeline/read'],
  },
  {
    path: 'pipeline/react',
    purpose: 'Triggers, processors and transitions around requests.',
    imports: [
      ...TREES,
      ...REQUESTS,
      ...SITE,
      ...LANGUAGES,
      'pipeline/evaluation',
      'pipeline/compose',
      'pipeline/read',
      'pipeline/write',
    ],
  },
  {
    path: 'pipeline/findings.ts',
    purpose: 'Declarations that do not say what they seem to.',
    imports: [...TREES, ...ROOT, ...SITE],
  },
  {
    path: 'pipeline/explain-request.ts',
    purpose: 'Why a request is decided as it is.',
    imports: [...TREES, ...REQUESTS, ...SITE, 'pipeline/read', 'pipeline/write', 'pipeline/findings.ts'],
  },
  {
    path: 'config',
    purpose: 'Settings: their schema, files and sites.',
    imports: [
      'pipeline/lazy-package.ts',
      'pipeline/tree',
      'pipeline/coordination/redis',
      'pipeline/store',
      'pipeline/store/objects',
      'pipeline/store/postgres',
    ],
  },
  {
    path: 'edge',
    purpose: 'Speaks HTTP on sockets, for the public surface and the mount.',
    imports: [...TREES, ...REQUESTS, ...SITE, 'pipeline/read', 'pipeline/findings.ts', 'config'],
  },
  {
    path: 'dav',
    purpose: 'The mount: WebDAV.',
    imports: [
      ...TREES,
      ...REQUESTS,
      ...SITE,
      ...LANGUAGES,
      'pipeline/evaluation',
      'pipeline/compose',
      'pipeline/read',
      'pipeline/write',
      'pipeline/react',
      'pipeline/explain-request.ts',
      'config',
      'edge',
    ],
  },
  {
    path: 'server',
    purpose: 'The public surface, the commands, and the program that puts all parts together.',
    imports: [
      ...TREES,
      ...REQUESTS,
      ...SITE,
      ...LANGUAGES,
      'pipeline/store/disk',
      'pipeline/store/objects',
      'pipeline/store/postgres',
      'pipeline/store/sqlite',
      'pipeline/coordination/local',
      'pipeline/coordination/redis',
      'pipeline/evaluation',
      'pipeline/compose',
      'pipeline/read',
      'pipeline/write',
      'pipeline/react',
      'pipeline/findings.ts',
      'pipeline/explain-request.ts',
      'config',
      'edge',
      'dav',
    ],
  },
]

/** Packages that only some rows may use, with everything below them. */
export const PACKAGES: ReadonlyMap<string, readonly string[]> = new Map([
  ['koa', ['server', 'dav']],
  ['@koa/router', ['server']],
  ['node:http', ['server', 'dav', 'edge', 'pipeline/http']],
  ['node:sqlite', ['pipeline/store/sqlite']],
  ['undici', ['pipeline/react']],
  ['ioredis', ['pipeline/coordination/redis']],
  ['pg', ['pipeline/store/postgres']],
  ['@aws-sdk/client-s3', ['pipeline/store/objects']],
])

/**
 * Packages that take much of the time and memory of a start, and that few servers use: `lazyPackage` loads them. An import
 * of `node:http` loads a whole client (`pipeline/http/node-http.ts`), and so does the module for imports of the router.
 */
export const LAZY: readonly string[] = [
  '@aws-sdk/client-s3',
  '@koa/router',
  'bcryptjs',
  'ioredis',
  'liquidjs',
  'marked',
  'node:http',
  'openid-client',
  're2js',
  'temporal-polyfill',
  'undici',
]

/** The table for people, as Markdown. */
export function asMarkdown(): string {
  const rows = FOLDERS.map(({ path, purpose, imports }) => {
    const listed = imports.map(each => `\`${each}\``).join(', ')
    return `| \`${path}\` | ${purpose} | ${listed || 'nothing'} |`
  })
  return ['| Folder | For | May import |', '|---|---|---|', ...rows].join('\n')
}
