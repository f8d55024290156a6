/**
 * Normalization form C in time that is linear in the text (SEC-12). The usual implementations bring combining marks into
 * their order one by one, which takes the square of the length of a run; long runs come here in that order already.
 */

/** Marks of a run that are brought into order; what follows them in the run stays as it is. */
const LONGEST_RUN = 1024

/** Shorter runs take no time that matters. */
const SHORT_RUN = 128

/** Where no code unit is one of these, there is no mark. */
const MAY_BE_MARK = /[\u0300-\uffff]/

const MARK = /\p{M}/u

/** Whether a character is a mark, by its code point, as far as somebody has asked: the pattern takes many times as long. */
const marks = new Uint8Array(0x110000)
const IS_MARK = 1
const IS_NONE = 2

/** UTF-16 code units of the mark that begins there; 0 where none does. */
function markAt(text: string, at: number): number {
  const code = text.codePointAt(at) ?? 0
  if (code < 0x300) return 0
  const kind = (marks[code] ||= MARK.test(String.fromCodePoint(code)) ? IS_MARK : IS_NONE)
  return kind === IS_NONE ? 0 : code > 0xffff ? 2 : 1
}

/** Where the character begins that a code unit belongs to. */
export function characterAt(text: string, at: number): number {
  const isSecond = (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800
  return isSecond ? at - 1 : at
}

/** The long runs of marks. One stands over one of any so many code units, so that no others are looked at before. */
function* longRuns(text: string): Generator<{ index: number; end: number }> {
  let before = 0
  for (let at = 0; at < text.length; at += SHORT_RUN) {
    let end = characterAt(text, at)
    let index = end
    let count = 0
    for (let size = markAt(text, end); size > 0; size = markAt(text, end)) {
      end += size
      count++
    }
    if (count === 0) continue
    for (let to = index; to > before; to = index) {
      const previous = characterAt(text, to - 1)
      if (markAt(text, previous) === 0) break
      index = previous
      count++
    }
    if (count > SHORT_RUN) yield { index, end }
    before = end
    // What ends a run is no mark.
    at = end - SHORT_RUN + 1
  }
}

/** @returns NFC of the text, but for runs of more than 1,024 marks */
export function normalForm(text: string): string {
  if (text.length <= SHORT_RUN || !MAY_BE_MARK.test(text)) return text.normalize('NFC')
  let result = ''
  let from = 0
  for (const { index, end } of longRuns(text)) {
    const run = text.slice(index, end)
    const marks = Array.from(run.slice(0, 2 * LONGEST_RUN)).slice(0, LONGEST_RUN)
    // The first mark may be composed with what stands before the run.
    result += (text.slice(from, index) + inOrder(marks)).normalize('NFC') + run.slice(marks.join('').length)
    from = end
  }
  return from === 0 ? text.normalize('NFC') : result + text.slice(from).normalize('NFC')
}

/** The parts of marks in the order of their canonical combining classes; starters among them keep their places. */
function inOrder(marks: readonly string[]): string {
  let ordered = ''
  let open: Part[] = []
  const close = () => {
    for (const { mark } of open.sort((a, b) => placeOf(a) - placeOf(b))) ordered += mark
    open = []
  }
  for (const mark of marks) {
    for (const part of partsOf(mark)) {
      if (part.own) open.push(part)
      else {
        close()
        ordered += part.mark
      }
    }
  }
  close()
  return ordered
}

/** A mark that has no parts, or a part of one. */
interface Part {
  mark: string
  /** Undefined for a starter. */
  own: CombiningClass | undefined
}

function placeOf({ own }: Part): number {
  return own?.place ?? 0
}

const known = new Map<string, readonly Part[]>()

/** The parts of a mark may have classes that it has not itself. */
function partsOf(mark: string): readonly Part[] {
  let parts = known.get(mark)
  if (!parts) {
    parts = Array.from(mark.normalize('NFD'), part => ({ mark: part, own: classOf(part) }))
    known.set(mark, parts)
  }
  return parts
}

/** A canonical combining class, known by one of its marks. */
interface CombiningClass {
  mark: string
  /** Among the classes met so far, from the lowest. */
  place: number
}

/** Marks of the lowest class and of the highest. */
const [LOWEST, HIGHEST] = ['\u0334', '\u0345']

const classes: CombiningClass[] = [
  { mark: LOWEST, place: 0 },
  { mark: HIGHEST, place: 1 },
]

/** @returns undefined for a starter */
function classOf(mark: string): CombiningClass | undefined {
  if (!goesBefore(mark, HIGHEST) && !goesBefore(LOWEST, mark)) return classes.find(each => each.mark === mark)
  const at = classes.findIndex(each => !goesBefore(each.mark, mark))
  const next = classes[at]
  if (next && !goesBefore(mark, next.mark)) return next
  const made = { mark, place: at }
  classes.splice(at < 0 ? classes.length : at, 0, made)
  for (const [place, each] of classes.entries()) each.place = place
  return made
}

/** Whether one mark has a lower class than another: then normalization exchanges them where they come the other way round. */
function goesBefore(mark: string, other: string): boolean {
  return (other + mark).normalize('NFD') !== other.normalize('NFD') + mark.normalize('NFD')
}
