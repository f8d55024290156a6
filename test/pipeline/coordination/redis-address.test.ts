import { expect } from 'chai'
import { describe, it } from 'mocha'
import { parseRedisAddress } from '../../../pipeline/coordination/redis/address.ts'

const local = { host: '127.0.0.1', port: 6379 }

const ADDRESSES: [written: string, parsed: object][] = [
  ['redis://127.0.0.1:6379/0', { kind: 'server', hosts: [local], db: 0, tls: false }],
  ['redis://127.0.0.1', { kind: 'server', hosts: [local], db: 0, tls: false }],
  ['redis://127.0.0.1/', { kind: 'server', hosts: [local], db: 0, tls: false }],
  [
    'rediss://ann:p%40ss:word@cache.example:6380/2',
    {
      kind: 'server',
      hosts: [{ host: 'cache.example', port: 6380 }],
      db: 2,
      tls: true,
      username: 'ann',
      password: 'p@ss:word',
    },
  ],
  [
    'redis://:secret@[::1]:7000',
    { kind: 'server', hosts: [{ host: '::1', port: 7000 }], db: 0, tls: false, password: 'secret' },
  ],
  [
    'redis://a.example,b.example:7001',
    {
      kind: 'cluster',
      hosts: [
        { host: 'a.example', port: 6379 },
        { host: 'b.example', port: 7001 },
      ],
      db: 0,
      tls: false,
    },
  ],
  ['rediss+cluster://127.0.0.1', { kind: 'cluster', hosts: [local], db: 0, tls: true }],
  [
    'redis+sentinel://:pw@a.example,b.example:26380/main?db=3&sentinelPassword=other',
    {
      kind: 'sentinel',
      hosts: [
        { host: 'a.example', port: 26379 },
        { host: 'b.example', port: 26380 },
      ],
      name: 'main',
      db: 3,
      tls: false,
      password: 'pw',
      sentinelPassword: 'other',
    },
  ],
]

const NONE = [
  '',
  'redis',
  'redis://',
  'redis:///0',
  'http://localhost',
  'constructor://host',
  'redis://a,',
  'redis://a,,b',
  'redis://a:0',
  'redis://a:65536',
  'redis://a:1:2',
  'redis://a/x',
  'redis://a/-1',
  'redis://a,b/1',
  'redis://a?db=1',
  'redis://a#b',
  'redis://a b',
  'redis://:%zz@a',
  'redis+sentinel://a',
  'redis+sentinel://a/name?db=x',
  'redis+sentinel://a/name?other=1',
]

describe('addresses of Redis', () => {
  for (const [written, parsed] of ADDRESSES)
    it(`reads ${written}`, () => expect(parseRedisAddress(written)).to.deep.equal(parsed))
  for (const written of NONE)
    it(`refuses ${JSON.stringify(written)}`, () => expect(parseRedisAddress(written)).to.equal(undefined))
})
