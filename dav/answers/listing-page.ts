/** What a browser shows of a collection: its members as links, and how to mount it (DAV-40). */

import { escapeMarkup } from '../../pipeline/http/markup.ts'
import { encodePath } from '../../pipeline/http/path.ts'
import { shownSeconds } from '../../pipeline/store/tags.ts'
import { isCollection, type Node } from '../places/place.ts'
import { mountAdvice, type System } from './mount-advice.ts'

/** Nothing is loaded from anywhere, and names of files are data. */
export const LISTING_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

export interface Listing {
  /** Name of the site. */
  title: string
  /** Of the collection, decoded, relative to the mount. */
  path: string
  /** In the order in which they are listed. */
  members: readonly Node[]
  /** Scheme and host by which the browser came. */
  origin: string
  /** Path of the mount, without slash at its end. */
  prefix: string
  /** Where the browser runs, if that is known. */
  system?: System | undefined
}

const STYLE = `
:root{color-scheme:light dark;--text:#1d2330;--soft:#5a6375;--back:#f4f5f8;--card:#fff;--line:#dfe2ea;--accent:#2f5bd0;--tint:#eef2fc}
@media(prefers-color-scheme:dark){:root{--text:#e7eaf2;--soft:#a2abbd;--back:#12151c;--card:#1b202a;--line:#2e3644;--accent:#8fb0ff;--tint:#222a39}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:80rem;padding:1.5rem clamp(1rem,3vw,2.5rem) 3rem;background:var(--back);color:var(--text);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
a{color:var(--accent);text-underline-offset:.15em}
a:focus-visible,summary:focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:.2rem}
header{display:flex;flex-wrap:wrap;align-items:baseline;justify-content:space-between;gap:.25rem 2rem;margin-bottom:1.25rem}
h1{margin:0;font-size:1.35rem;line-height:1.3;font-weight:650;overflow-wrap:anywhere}
h1 a{text-decoration:none}
h1 a:hover{text-decoration:underline}
h1 span{color:var(--soft);font-weight:400;margin:0 .3rem}
header p,.empty,td,th{color:var(--soft)}
header p{margin:0;font-size:.9rem;display:flex;flex-wrap:wrap;gap:0 .9rem}
main{display:grid;gap:1.5rem;align-items:start}
@media(min-width:64rem){main{grid-template-columns:minmax(0,1fr) 21rem}header p a{display:none}}
.card{background:var(--card);border:1px solid var(--line);border-radius:.6rem;overflow:hidden}
table{border-collapse:collapse;width:100%;font-size:.95rem}
td,th{padding:.55rem 1rem;border-top:1px solid var(--line)}
thead th{border-top:0}
tbody tr:hover{background:var(--tint)}
td+td,th+th{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums;font-size:.9rem;width:1%}
th,th+th{font-weight:600;font-size:.82rem}
th:first-child{text-align:left}
td a{display:flex;gap:.65rem;align-items:center;color:var(--text);text-decoration:none;overflow-wrap:anywhere}
td a:hover{color:var(--accent)}
td a span{min-width:0}
svg{flex:none;width:1.25rem;height:1.25rem;fill:none;stroke:var(--soft);stroke-width:1.5;stroke-linejoin:round}
.folder svg{stroke:var(--accent);fill:var(--tint)}
.folder a{font-weight:550}
.empty{margin:0;padding:2.5rem 1rem;text-align:center}
aside{padding:1.1rem 1.25rem 1.25rem;font-size:.93rem}
h2{margin:0;font-size:1.05rem}
h3{margin:1.1rem 0 .35rem;font-size:.93rem}
aside p{margin:.5rem 0 0;color:var(--soft)}
ol,ul{margin:0;padding-left:1.2rem}
li{margin-top:.4rem}
code{display:block;margin-top:.25rem;padding:.35rem .55rem;background:var(--tint);border-radius:.35rem;font:.88em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere;user-select:all}
kbd{font:inherit;padding:0 .3em;border:1px solid var(--line);border-radius:.25rem}
details{border-top:1px solid var(--line);padding:.5rem 0}
details:last-child{padding-bottom:0}
summary{cursor:pointer}
@media(max-width:40rem){th:nth-child(3),td:nth-child(3){display:none}td,th{padding:.6rem .85rem}}`.replaceAll('\n', '')

const SYMBOLS =
  '<svg width="0" height="0" style="position:absolute" aria-hidden="true">' +
  '<symbol id="folder" viewBox="0 0 20 20"><path d="M2.5 5.5c0-.8.7-1.5 1.5-1.5h3.6l2 2H16c.8 0 1.5.7 1.5 1.5V15c0 .8-.7 1.5-1.5 1.5H4c-.8 0-1.5-.7-1.5-1.5z"/></symbol>' +
  '<symbol id="file" viewBox="0 0 20 20"><path d="M5.5 2.5h6l4 4V16c0 .8-.7 1.5-1.5 1.5h-8.5c-.8 0-1.5-.7-1.5-1.5V4c0-.8.7-1.5 1.5-1.5z"/><path d="M11.5 2.5v4h4"/></symbol></svg>'

/** @returns a complete page */
export function listingPage(listing: Listing): string {
  const { title, path, members, origin, prefix, system } = listing
  const folders = members.filter(isCollection)
  const files = members.filter(member => !isCollection(member))
  return (
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">' +
    '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">' +
    `<title>${escapeMarkup(`${title} ${path}`)}</title><style>${STYLE}</style></head><body>${SYMBOLS}` +
    `<header><h1>${trail(listing)}</h1><p>${summary(folders, files)}<a href="#drive">Open it as a drive</a></p></header><main><div class="card">` +
    (members.length === 0
      ? '<p class="empty">This folder is empty.</p>'
      : '<table><thead><tr><th scope="col">Name</th><th scope="col">Size</th><th scope="col">Modified (UTC)</th></tr></thead>' +
        `<tbody>${[...folders, ...files].map(member => row(member, prefix)).join('')}</tbody></table>`) +
    '</div><aside class="card" id="drive"><h2>Open it as a drive</h2>' +
    '<p>What you save there is on the site at once.</p>' +
    `${mountAdvice(`${origin}${prefix}/`, system)}</aside></main></body></html>`
  )
}

/** The way from the root, every folder but the last as a link. */
function trail({ title, path, prefix }: Listing): string {
  const names = path.split('/').slice(1, -1)
  const steps = [title, ...names].map((name, i) => {
    const text = escapeMarkup(name)
    if (i === names.length) return text
    return `<a href="${escapeMarkup(`${prefix}${encodePath(`/${names.slice(0, i).join('/')}`)}`)}${i === 0 ? '' : '/'}">${text}</a>`
  })
  return steps.join('<span>/</span>')
}

function summary(folders: readonly Node[], files: readonly Node[]): string {
  const bytes = files.reduce((sum, { resource }) => sum + resource.size, 0)
  const parts = [
    ...(folders.length > 0 ? [folders.length === 1 ? '1 folder' : `${number(folders.length)} folders`] : []),
    ...(files.length > 0 ? [files.length === 1 ? '1 file' : `${number(files.length)} files`, sizeOf(bytes)] : []),
  ]
  return parts.length === 0 ? '' : `<span>${parts.join(', ')}</span> `
}

function row(node: Node, prefix: string): string {
  const { resource } = node
  const { path, size } = resource
  const folder = isCollection(node)
  const end = folder ? path.length - 1 : path.length
  const name = escapeMarkup(path.slice(path.lastIndexOf('/', end - 1) + 1))
  const modified = new Date(shownSeconds(resource) * 1000).toISOString()
  const icon = folder ? 'folder' : 'file'
  return (
    `<tr${folder ? ' class="folder"' : ''}><td><a href="${escapeMarkup(prefix + encodePath(path))}">` +
    `<svg aria-hidden="true"><use href="#${icon}"/></svg><span>${name}</span></a></td>` +
    `<td>${folder ? '' : `<span title="${number(size)} bytes">${sizeOf(size)}</span>`}</td>` +
    `<td><time datetime="${modified.slice(0, 19)}Z">${modified.slice(0, 16).replace('T', ' ')}</time></td></tr>`
  )
}

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const

/** Three digits at most, in units of 1,024. */
function sizeOf(bytes: number): string {
  let value = bytes
  let unit = 0
  for (; value >= 999.5 && unit < UNITS.length - 1; unit++) value /= 1024
  return `${unit > 0 && value < 9.95 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`
}

function number(value: number): string {
  return value.toLocaleString('en')
}
