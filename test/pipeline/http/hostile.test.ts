import { describe, it } from 'mocha'
import { chooseCoding, excludes, negotiate } from '../../../pipeline/http/accept.ts'
import {
  evaluateRead,
  evaluateWrite,
  parseHttpDate,
  rangeApplies,
  readConditions,
} from '../../../pipeline/http/conditions.ts'
import { parseDestination } from '../../../pipeline/http/destination.ts'
import { decodeField } from '../../../pipeline/http/field-text.ts'
import { essence, kindOf, servedType, storedType } from '../../../pipeline/http/media.ts'
import { writeMultipart } from '../../../pipeline/http/multipart.ts'
import { decodeTarget, encodePath } from '../../../pipeline/http/path.ts'
import { parseDestinationRange, parseRange } from '../../../pipeline/http/range.ts'
import { takesLess } from '../../support/cost.ts'
import { faultOf } from './fault.ts'

/** As long as all header fields together may be (HTTP-181). */
const SIZE = 32 * 1024

/** Every parser that a field reaches; none may look twice at a character more than a few times. */
const parsers: Record<string, (field: string) => unknown> = {
  'request target': field => decodeTarget(`/${field}`, 'public', false),
  'request target cut to its limit': field => decodeTarget(`/${field.slice(0, 8000)}`, 'public', true),
  Destination: field => parseDestination(field, 'public', ['example.org']),
  'Destination, absolute': field => parseDestination(`http://${field}`, 'mount', ['example.org']),
  Range: field => parseRange(field),
  'Range by selector': field => parseRange(`selector=${field}`),
  'Range by bytes': field => parseRange(`bytes=${field}`),
  'Destination-Range': field => parseDestinationRange(`selector=a${field}`),
  Accept: field => [negotiate(field, true), excludes(field, 'multipart/mixed'), chooseCoding(field)],
  'conditions on a read': field =>
    evaluateRead(readConditions({ 'if-match': field, 'if-none-match': field, 'if-modified-since': field }) ?? {}, {
      tag: '"a"',
      fragmentParts: ['b'],
    }),
  'conditions on a write': field =>
    evaluateWrite(readConditions({ 'if-match': field, 'if-unmodified-since': field }) ?? {}, {
      exists: true,
      tags: ['"a"', '"b"'],
      documentParts: ['c'],
      fragmentParts: ['d'],
    }),
  'If-Range': field => rangeApplies(field, { tag: '"a"' }),
  date: field => parseHttpDate(field),
  'Content-Type': field => [
    storedType('/a', field),
    kindOf(field),
    essence(field),
    servedType(`text/html${field}`, true),
  ],
  text: field => [decodeField(field), encodePath(field)],
  multipart: field => writeMultipart([{ headers: { 'Content-Type': field }, content: field }], 'a'),
}

const units = [
  'a',
  ' ',
  '\t',
  ',',
  ';',
  '=',
  '"',
  '\\',
  '*',
  '%',
  '/',
  '.',
  '-',
  '0',
  '9',
  '\xc3',
  '\xe9',
  '%2',
  '%C3%A9',
  '%c3',
  '/a',
  '//',
  '../',
  'a,',
  '"a",',
  '"a" ',
  'W/',
  'W/"a",',
  '"\\',
  ';a',
  '; a=b',
  '; placement=',
  ';placement=after',
  ';entries=0-0',
  'q=',
  ';q=0.5,',
  ';q=',
  'a/b;q=1,',
  '0-1,',
  '-1,',
  ' ,',
  '=""',
  '; charset',
  'Sun, 06 Nov ',
]

/** Milliseconds: linear work takes about one, quadratic work more than a thousand. */
const ENOUGH = 150

describe('hostile fields', () => {
  for (const [name, parser] of Object.entries(parsers)) {
    it(`HTTP-181 ${name}: 32 KiB of anything takes no time`, async () => {
      for (const unit of units) {
        for (const tail of ['', 'x', '"', '=']) {
          const field = unit.repeat(Math.ceil(SIZE / unit.length)).slice(0, SIZE - 1) + tail
          await takesLess(ENOUGH, () => faultOf(() => parser(field)), JSON.stringify(unit + tail))
        }
      }
    })
  }
})
