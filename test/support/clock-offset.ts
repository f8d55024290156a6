/** A clock that is wrong by as many milliseconds as `CLOCK_OFFSET` says: loaded before a program, `--import`. */

const offset = Number(process.env.CLOCK_OFFSET)
const Right = Date

class Wrong extends Right {
  constructor(...given: unknown[]) {
    super(...((given.length === 0 ? [Wrong.now()] : given) as [number]))
  }
  static override now(): number {
    return Right.now() + offset
  }
}

globalThis.Date = Wrong as DateConstructor
process.stderr.write(`The clock is wrong by ${offset} ms\n`)
