/**
 * The parameters of a statement in PostgreSQL's binary format, with everything around them that has it carried out: one run
 * of bytes. Nobody has to escape texts then, or take them apart again.
 */

/** What stands in a column. */
export type Cell = string | number | Uint8Array | null

/** Types of columns, and their numbers in PostgreSQL. */
const TYPES = { int8: 20, int2: 21, text: 25, bytea: 17 } as const
export type Type = keyof typeof TYPES

/** A column of rows: its type and where its cells come from. */
export type Column<Row> = readonly [type: Type, cell: (row: Row) => Cell]

/** Bytes of a message's beginning that are kept for the next one, and at most. */
const SCRATCH = 256 * 1024
const LARGEST_SCRATCH = 1024 * 1024

const HIGH = 2 ** 32

/** Messages are made one after another, and copied when they are done. */
let scratch = Buffer.allocUnsafeSlow(SCRATCH)

export class BindMessage {
  #at = 0

  /** @param statement name of the prepared statement; `count` of its parameters */
  constructor(statement: string, count: number) {
    this.#byte('B')
    this.#int4(0)
    // The portal without a name, and all parameters in binary.
    this.#byte('\0')
    this.#bytes(Buffer.from(`${statement}\0`))
    this.#int2(1)
    this.#int2(1)
    this.#int2(count)
  }

  #need(bytes: number): void {
    if (this.#at + bytes <= scratch.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * scratch.length, this.#at + bytes))
    scratch.copy(larger, 0, 0, this.#at)
    scratch = larger
  }

  #byte(letter: string): void {
    this.#need(1)
    scratch[this.#at++] = letter.charCodeAt(0)
  }

  #int2(value: number): void {
    this.#need(2)
    this.#at = scratch.writeInt16BE(value, this.#at)
  }

  #int4(value: number): void {
    this.#need(4)
    this.#at = scratch.writeInt32BE(value, this.#at)
  }

  #bytes(bytes: Uint8Array): void {
    this.#need(bytes.length)
    scratch.set(bytes, this.#at)
    this.#at += bytes.length
  }

  /** Length and bytes of a value. */
  #cell(type: Type, cell: Cell): void {
    if (cell === null) this.#int4(-1)
    else if (typeof cell === 'string') {
      this.#need(4 + 3 * cell.length)
      const length = scratch.write(cell, this.#at + 4)
      this.#int4(length)
      this.#at += length
    } else if (typeof cell !== 'number') {
      this.#int4(cell.length)
      this.#bytes(cell)
    } else if (type === 'int2') {
      this.#int4(2)
      this.#int2(cell)
    } else {
      this.#need(12)
      this.#int4(8)
      this.#at = scratch.writeInt32BE(Math.floor(cell / HIGH), this.#at)
      this.#at = scratch.writeUInt32BE(cell >>> 0, this.#at)
    }
  }

  /** The next parameter: one value. Numbers are whole, below 2^53. */
  value(type: Type, cell: Cell): void {
    this.#cell(type, cell)
  }

  /** The next parameters: an array for each column of rows. */
  columns<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): void {
    for (const [type, cell] of columns) this.#array(rows, type, cell)
  }

  /** The next parameter: an array. */
  list(type: Type, cells: readonly Cell[]): void {
    this.#array(cells, type, cell => cell)
  }

  #array<Row>(rows: readonly Row[], type: Type, cell: (row: Row) => Cell): void {
    const start = this.#at
    this.#int4(0)
    this.#int4(rows.length === 0 ? 0 : 1)
    // There may be NULL among them.
    this.#int4(1)
    this.#int4(TYPES[type])
    if (rows.length > 0) {
      this.#int4(rows.length)
      this.#int4(1)
    }
    for (const row of rows) this.#cell(type, cell(row))
    scratch.writeInt32BE(this.#at - start - 4, start)
  }

  /** The whole message, and behind it those that have the statement carried out. Its result comes as text. */
  finish(): Uint8Array {
    this.#int2(0)
    scratch.writeInt32BE(this.#at - 1, 1)
    this.#byte('E')
    this.#int4(9)
    this.#byte('\0')
    this.#int4(0)
    this.#byte('S')
    this.#int4(4)
    const message = Buffer.allocUnsafeSlow(this.#at)
    scratch.copy(message, 0, 0, this.#at)
    if (scratch.length > LARGEST_SCRATCH) scratch = Buffer.allocUnsafeSlow(SCRATCH)
    return message
  }
}
