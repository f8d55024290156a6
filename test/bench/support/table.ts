/** Results as a table that reads well in a terminal and in Markdown. */

export type Row = readonly string[]

export function table(head: Row, rows: readonly Row[]): string {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map(row => row[i]?.length ?? 0)))
  const line = (row: Row) => `| ${widths.map((width, i) => (row[i] ?? '').padEnd(width)).join(' | ')} |`
  return [line(head), line(widths.map(width => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

/** A number with as many digits as matter. */
export function figure(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en')
  return value >= 10 ? value.toFixed(1) : value.toFixed(2)
}
