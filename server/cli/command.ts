/** What a command is: its options, its help, and reading its arguments. */

import { parseArgs } from 'node:util'
import { nearest } from '../../config/suggest.ts'
import type { Commands } from './commands.ts'
import type { Terminal } from './terminal.ts'

export interface Option {
  type: 'string' | 'boolean'
  short?: string
  multiple?: true
  /** How help calls the value: `FILE`. */
  value?: string
  doc: string
}

export interface Arguments {
  flag(name: string): boolean
  /** The last value of an option. */
  text(name: string): string | undefined
  /** All values of an option that may be repeated. */
  texts(name: string): string[]
  positionals: string[]
}

export interface Call {
  args: Arguments
  commands: Commands
  terminal: Terminal
}

export interface Command {
  name: string
  /** One line for the list of commands. */
  summary: string
  /** Names of what follows the options, such as `FOLDER`. */
  positionals: readonly string[]
  /** What may follow them. */
  optional?: readonly string[]
  /** Options that may be written instead of a positional, by its name. */
  spelledOut?: Readonly<Record<string, string>>
  options: Readonly<Record<string, Option>>
  /** More about it, in lines of at most 80 characters. */
  details: readonly string[]
  /** Command lines and what they do. */
  examples: readonly (readonly [string, string])[]
  /** @returns the exit code */
  run(call: Call): Promise<number>
}

/** The command line was misunderstood; the message says how to write it. */
export class UsageError extends Error {
  readonly command: string | undefined

  constructor(message: string, command?: string) {
    super(message)
    this.name = 'UsageError'
    this.command = command
  }
}

/**
 * Reads the arguments of a command.
 *
 * @throws UsageError
 */
export function readArguments(command: Command, argv: readonly string[]): Arguments {
  const { values, positionals, tokens } = parseArgs({
    args: [...argv],
    options: parsable(command),
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const option = command.options[token.name]
    if (option === undefined) throw new UsageError(unknownOption(token.rawName, command), command.name)
    if (option.type === 'string' && (token.value === undefined || token.value === '')) {
      throw new UsageError(`${token.rawName} needs a value: ${token.rawName} ${option.value}`, command.name)
    }
    if (option.type === 'boolean' && token.value !== undefined) {
      throw new UsageError(`${token.rawName} takes no value`, command.name)
    }
    if (option.type === 'string' && !token.inlineValue && token.value?.startsWith('-') && token.value.length > 1) {
      throw new UsageError(
        `${token.rawName} is followed by ${token.value}, which looks like an option; write ${token.rawName}=${token.value} if it is a value`,
        command.name,
      )
    }
  }
  const all = (name: string) => [values[name]].flat().filter(value => typeof value === 'string')
  const written = [...positionals]
  const given = command.positionals.map(name => {
    const option = command.spelledOut?.[name]
    const text = (option === undefined ? undefined : all(option).at(-1)) ?? written.shift()
    if (text === undefined) throw new UsageError(`${name} is missing`, command.name)
    return text
  })
  for (const _ of command.optional ?? []) {
    const text = written.shift()
    if (text !== undefined) given.push(text)
  }
  if (written[0] !== undefined) throw new UsageError(`"${written[0]}" is too much`, command.name)
  return {
    flag: name => values[name] === true,
    text: name => all(name).at(-1),
    texts: all,
    positionals: given,
  }
}

function parsable(command: Command) {
  return Object.fromEntries(
    Object.entries(command.options).map(([name, { type, short, multiple = false }]) => [
      name,
      short === undefined ? { type, multiple } : { type, multiple, short },
    ]),
  )
}

function unknownOption(written: string, command: Command): string {
  const meant = nearest(written, Object.keys(command.options))
  return `unknown option ${written}${meant === undefined ? '' : `; did you mean --${meant}?`}`
}

/** The help of one command. */
export function commandHelp(command: Command): string {
  const usage = [
    'scriptorium',
    command.name,
    '[options]',
    ...command.positionals,
    ...(command.optional ?? []).map(name => `[${name}]`),
  ].join(' ')
  const options = Object.entries(command.options).map(([name, option]): [string, string] => [
    `${option.short === undefined ? '    ' : `-${option.short}, `}--${name}${option.value === undefined ? '' : ` ${option.value}`}`,
    option.doc,
  ])
  return [
    `Usage: ${usage}`,
    '',
    `${command.summary}.`,
    ...(command.details.length > 0 ? ['', ...command.details] : []),
    '',
    'Options:',
    ...columns([...options, ['-h, --help', 'Show this help']]),
    '',
    'Examples:',
    ...command.examples.flatMap(([example, what]) => [`  ${example}`, `      ${what}`]),
  ].join('\n')
}

/** Two columns, the left one as wide as its longest text. */
export function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}
