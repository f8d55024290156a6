/** Reads a settings file, YAML or JSON by its extension, and remembers the line of every key. */

import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { CST, Document, ErrorCode, LineCounter, Node } from 'yaml'
import { inTurns, NODES_PER_STEP, type Steps } from '../pipeline/tree/steps.ts'
import { type Path, pathText } from './outline.ts'
import { isMapping, type Written } from './written.ts'
import { isEndless, yaml } from './yaml.ts'

/** A settings file that cannot be read or has the wrong syntax. Its text never quotes the file, which may hold passwords. */
export class FileProblem extends Error {}

/** What to look at, by what the parser calls it. Its own sentences may quote the file. */
const HINTS: Partial<Record<ErrorCode, string>> = {
  BAD_DQ_ESCAPE: 'in double quotes a backslash begins an escape; take single quotes',
  BAD_INDENT: 'it stands too far to the left, or a bracket or brace before it is not closed',
  BAD_SCALAR_START: 'put the value in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'put a value with a colon in quotes',
  DUPLICATE_KEY: 'the key is there already',
  MISSING_CHAR: 'it does not stand right below its neighbours, or a quote, comma or colon is missing before it',
  MULTILINE_IMPLICIT_KEY: 'behind a key belong a colon and a blank',
  TAB_AS_INDENT: 'indent with blanks, not with tabs',
  UNEXPECTED_TOKEN: 'this is more than belongs here; put the whole value in quotes',
}

/** Reads and parses a settings file. @throws FileProblem */
export async function readSettingsFile(file: string): Promise<Written> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    const reason = { ENOENT: 'there is no such file', EACCES: 'no permission to read it', EISDIR: 'it is a folder' }[
      code
    ]
    throw new FileProblem(`${file}: ${reason ?? `it cannot be read (${code})`}`)
  }
  // A server that runs reads its settings again beside its requests.
  return inTurns(parsingSettings(text, file), text.length)
}

/** Parses the text of a settings file, in steps. @throws FileProblem */
export function* parsingSettings(text: string, file: string): Steps<Written> {
  const extension = extname(file).toLowerCase()
  if (extension === '.json') checkJson(text, file)
  else if (extension !== '.yaml' && extension !== '.yml') {
    throw new FileProblem(`${file}: settings files end in .yaml, .yml or .json`)
  }

  const { isAlias, isMap, isScalar, isSeq, LineCounter } = yaml()
  const lines = new LineCounter()
  // JSON is YAML, so one parser finds the lines of both.
  const document = yield* reading(text.replace(/^\uFEFF/, ''), lines)
  const [error] = document.errors
  if (error) {
    const { line, col } = lines.linePos(error.pos[0])
    const hint = /alias/i.test(error.message) ? 'Quote host patterns: host: "*.example.org"' : HINTS[error.code]
    throw new FileProblem(`${file}:${line}:${col}: not valid YAML (${error.code})${hint ? `: ${hint}` : ''}`)
  }
  let tree: unknown
  try {
    tree = document.toJS({ maxAliasCount: 100 }) ?? {}
  } catch {
    throw new FileProblem(`${file}: an alias (*) without anchor. Quote host patterns: host: "*.example.org"`)
  }
  if (isEndless(tree)) throw new FileProblem(`${file}: an alias (*) stands for itself, or aliases for too much`)
  if (!isMapping(tree)) throw new FileProblem(`${file}: expected keys and values, such as "data: ./data"`)

  yield
  const origins = new Map<string, string>([['', file]])
  yield* notingLines(document.contents, [])
  return { tree, origins }

  function* notingLines(node: Node | null, path: Path): Steps<void> {
    const target = isAlias(node) ? node.resolve(document) : node
    if (isMap(target)) {
      for (const { key, value } of target.items) {
        if (!isScalar(key)) continue
        note([...path, String(key.value)], key)
        yield* notingLines(value as Node | null, [...path, String(key.value)])
      }
    } else if (isSeq(target)) {
      for (const [index, item] of target.items.entries()) {
        note([...path, index], item as Node)
        yield* notingLines(item as Node, [...path, index])
        if (origins.size % NODES_PER_STEP === 0) yield
      }
    }
  }

  function note(path: Path, node: Node | null): void {
    if (node?.range) origins.set(pathText(path), `${file}:${lines.linePos(node.range[0]).line}`)
  }
}

/** What `parseDocument` does at once, which took most of a second for thousands of sites. */
function* reading(text: string, lines: LineCounter): Steps<Document> {
  const { Composer, Document, Lexer, Parser, YAMLParseError } = yaml()
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  const tokens: CST.Token[] = []
  let read = 0
  for (const lexeme of new Lexer().lex(text)) {
    tokens.push(...parser.next(lexeme))
    if (++read % NODES_PER_STEP === 0) yield
  }
  tokens.push(...parser.end())
  yield
  const composer = new Composer({ lineCounter: lines, prettyErrors: false })
  const [document = new Document(), another] = composer.compose(tokens, true, text.length)
  if (another)
    document.errors.push(new YAMLParseError(another.range.slice(0, 2) as [number, number], 'MULTIPLE_DOCS', ''))
  return document
}

function checkJson(text: string, file: string): void {
  try {
    JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    const line = /\(line ([0-9]+) column ([0-9]+)\)/.exec(String(error))
    throw new FileProblem(`${file}${line ? `:${line[1]}:${line[2]}` : ''}: not valid JSON`)
  }
}
