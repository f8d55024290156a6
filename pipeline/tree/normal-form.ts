/**
 * Normalization form C in time that is linear in the text (SEC-12). The usual implementations bring combining marks into
 * their order one by one, which takes the square of the length of a run; long runs come here in that order already.
 */

/** Marks of a run that are brought into order; what follows them in the run stays as it is. */
const LONGEST_RUN = 1024

/** Shorter runs take no time that matters. */
const SHORT_RUN = 32

/** Where no code unit is one of these, there is no mark. */
const MAY_BE_MARK = /[\u0300-\uffff]/

const RUNS = new RegExp(`\\p{M}{${SHORT_RUN + 1}}\\p{M}*`, 'gu')

/** @returns NFC of the text, but for runs of more than 1,024 marks */
export function normalForm(text: string): string {
  if (text.length <= SHORT_RUN || !MAY_BE_MARK.test(text)) return text.normalize('NFC')
  let result = ''
  let from = 0
  for (const { 0: run, index } of text.matchAll(RUNS)) {
    const marks = Array.from(run.slice(0, 2 * LONGEST_RUN)).slice(0, LONGEST_RUN)
    // The parts of a mark may have classes that it has not itself.
    const ordered = inOrder(marks.flatMap(mark => Array.from(mark.normalize('NFD'))))
    // The first mark may be composed with what stands before the run.
    result += (text.slice(from, index) + ordered.join('')).normalize('NFC') + run.slice(marks.join('').length)
    from = index + run.length
  }
  return from === 0 ? text.normalize('NFC') : result + text.slice(from).normalize('NFC')
}

/** Marks in the order of their canonical combining classes; starters among them keep their places. */
function inOrder(marks: readonly string[]): string[] {
  const ordered: string[] = []
  let open: { mark: string; own: CombiningClass }[] = []
  const close = () => {
    for (const { mark } of open.sort((a, b) => a.own.place - b.own.place)) ordered.push(mark)
    open = []
  }
  for (const mark of marks) {
    const own = classOf(mark)
    if (own) open.push({ mark, own })
    else {
      close()
      ordered.push(mark)
    }
  }
  close()
  return ordered
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

const known = new Map<string, CombiningClass | undefined>()

/** @returns undefined for a starter */
function classOf(mark: string): CombiningClass | undefined {
  if (!known.has(mark)) known.set(mark, found(mark))
  return known.get(mark)
}

function found(mark: string): CombiningClass | undefined {
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
