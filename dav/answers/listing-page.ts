/** What a browser shows of a collection: its members, what can be done with them by plain forms, and how to mount it (DAV-40). */

import { serverPage } from '../../edge/page.ts'
import { escapeMarkup } from '../../pipeline/http/markup.ts'
import { encodePath } from '../../pipeline/http/path.ts'
import { shownSeconds } from '../../pipeline/store/tags.ts'
import { isCollection, type Node } from '../places/place.ts'
import { mountAdvice, type System } from './mount-advice.ts'

/** Nothing is loaded from anywhere, and names of files are data. */
export const LISTING_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

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
  /** Scheme and host of the public surface. */
  pages: string
  /** The credential may write here, so there are forms. */
  writable: boolean
  /** Address of the page that explains rules; absent for credentials that may not ask. */
  explain?: string | undefined
  order: ListingOrder
}

const STYLE = `
body{margin:0 auto;max-width:80rem;padding:1.5rem clamp(1rem,3vw,2.5rem) 3rem;line-height:1.5}
header{display:flex;flex-wrap:wrap;align-items:baseline;justify-content:space-between;gap:.25rem 2rem;margin-bottom:1.25rem}
h1{margin:0;font-size:1.35rem;line-height:1.3;font-weight:650;overflow-wrap:anywhere}
h1 a{text-decoration:none}
h1 a:hover{text-decoration:underline}
h1 span{color:var(--soft);font-weight:400;margin:0 .3rem}
header p,.empty,td,th{color:var(--soft)}
header p{margin:0;font-size:.9rem;display:flex;flex-wrap:wrap;gap:.3rem .9rem}
main{display:grid;gap:1.5rem;align-items:start}
@media(min-width:64rem){main{grid-template-columns:minmax(0,1fr) 21rem}header a[href="#drive"]{display:none}}
.card{background:var(--card);border:1px solid var(--line);border-radius:.6rem}
table{border-collapse:collapse;width:100%;font-size:.95rem}
td,th{padding:.55rem 1rem;border-top:1px solid var(--line)}
thead th,thead td{border-top:0}
tbody tr:hover{background:var(--tint)}
td+td,th+th{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums;font-size:.9rem;width:1%}
th,th+th{font-weight:600;font-size:.82rem}
th:first-child{text-align:left}
th a{color:inherit}
td:first-child a{display:flex;gap:.65rem;align-items:center;color:var(--text);text-decoration:none;overflow-wrap:anywhere}
td:first-child a:hover{color:var(--accent)}
td:first-child a span{min-width:0}
svg{flex:none;width:1.25rem;height:1.25rem;fill:none;stroke:var(--soft);stroke-width:1.5;stroke-linejoin:round}
.folder svg{stroke:var(--accent);fill:var(--tint)}
.folder a{font-weight:550}
.done{margin:0 0 1.25rem;padding:.6rem 1rem;color:var(--yes);font-weight:600}
.empty{margin:0;padding:2.5rem 1rem;text-align:center}
aside{padding:1.1rem 1.25rem 1.25rem;font-size:.93rem}
h2{margin:0;font-size:1.05rem}
h3{margin:1.1rem 0 .35rem;font-size:.93rem}
td details{position:relative;border:0;padding:0}
td summary{padding:0 .4rem;border-radius:.3rem;color:var(--accent)}
td details>div{position:absolute;right:0;z-index:1;display:grid;gap:.75rem;width:min(19rem,82vw);padding:1rem;background:var(--card);border:1px solid var(--line);border-radius:.5rem;box-shadow:0 .4rem 1.2rem rgb(0 0 0/.2);white-space:normal;text-align:left;color:var(--text)}
form{display:flex;flex-wrap:wrap;gap:.5rem;align-items:end}
form label{display:grid;gap:.2rem;flex:1 1 9rem;min-width:0;color:var(--soft);font-size:.9rem}
form label.tick{display:flex;flex-basis:100%;gap:.5rem;align-items:baseline}
input{width:100%}
.tick input{width:auto}
.side{display:grid;gap:1.5rem}
.forms{display:grid;gap:1rem;padding:1.1rem 1.25rem}
.turn{display:flex;justify-content:space-between;margin:0;padding:.75rem 1rem;border-top:1px solid var(--line)}
aside p{margin:.5rem 0 0;color:var(--soft)}
ol,ul{margin:0;padding-left:1.2rem}
li{margin-top:.4rem}
code{display:block;margin-top:.25rem;padding:.35rem .55rem;background:var(--tint);border-radius:.35rem;font:.88em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere;user-select:all}
kbd{font:inherit;padding:0 .3em;border:1px solid var(--line);border-radius:.25rem}
details{border-top:1px solid var(--line);padding:.5rem 0}
details:last-child{padding-bottom:0}
summary{cursor:pointer}
@media(max-width:40rem){th:nth-child(3),td:nth-child(3){display:none}td,th{padding-inline:.5rem}td,th{padding:.6rem .85rem}}`

const SYMBOLS =
  '<svg width="0" height="0" style="position:absolute" aria-hidden="true">' +
  '<symbol id="folder" viewBox="0 0 20 20"><path d="M2.5 5.5c0-.8.7-1.5 1.5-1.5h3.6l2 2H16c.8 0 1.5.7 1.5 1.5V15c0 .8-.7 1.5-1.5 1.5H4c-.8 0-1.5-.7-1.5-1.5z"/></symbol>' +
  '<symbol id="file" viewBox="0 0 20 20"><path d="M5.5 2.5h6l4 4V16c0 .8-.7 1.5-1.5 1.5h-8.5c-.8 0-1.5-.7-1.5-1.5V4c0-.8.7-1.5 1.5-1.5z"/><path d="M11.5 2.5v4h4"/></symbol></svg>'

const COLUMNS = [
  ['name', 'Name'],
  ['size', 'Size'],
  ['modified', 'Modified (UTC)'],
] as const

export interface ListingOrder {
  by: (typeof COLUMNS)[number][0]
  descending: boolean
  /** From 1. */
  page: number
  /** What a form of this page has just done, in words. */
  done?: string | undefined
}

/** What is said of forms that were carried out; an address can make the page say nothing else. */
const DONE: ReadonlyMap<string | null, string> = new Map([
  ['upload', 'Uploaded: it is on the site now.'],
  ['folder', 'The folder is there.'],
  ['rename', 'Renamed.'],
  ['delete', 'Deleted.'],
])

/** Members on one page. */
const PAGE = 500

/** @param query of the address, raw; what it does not say, or says wrong, is by name, from the start */
export function listingOrder(query: string): ListingOrder {
  const wanted = new URLSearchParams(query)
  const [by] = COLUMNS.find(([column]) => column === wanted.get('sort')) ?? COLUMNS[0]
  const page = /^[1-9][0-9]{0,6}$/.exec(wanted.get('page') ?? '')
  return {
    by,
    descending: wanted.get('order') === 'desc',
    page: Number(page?.[0] ?? 1),
    done: DONE.get(wanted.get('done')),
  }
}

/** @returns a complete page */
export function listingPage(listing: Listing): string {
  const { title, path, members, origin, prefix, system, order, writable, explain } = listing
  const folders = members.filter(isCollection)
  const files = members.filter(member => !isCollection(member))
  const sorted = [...inOrder(folders, order), ...inOrder(files, order)]
  const last = Math.max(1, Math.ceil(sorted.length / PAGE))
  const page = Math.min(order.page, last)
  const rows = sorted.slice((page - 1) * PAGE, page * PAGE).map(member => row(member, listing))
  const site = `<a href="${escapeMarkup(listing.pages + encodePath(path))}">View on site</a>`
  const rules = explain === undefined ? '' : `<a href="${escapeMarkup(explain)}">Who may do what</a>`
  const said = order.done === undefined ? '' : `<p class="card done" role="status">${order.done}</p>`
  return serverPage({
    title: `${title} ${path}`,
    style: STYLE,
    // Told nothing at all, the mount could not know its own forms.
    referrer: 'same-origin',
    content:
      `${SYMBOLS}<header><h1>${trail(listing)}</h1>` +
      `<p>${summary(folders, files)}${site}${rules}<a href="#drive">Open it as a drive</a></p></header>${said}<main><div class="card">` +
      (members.length === 0
        ? '<p class="empty">This folder is empty.</p>'
        : `<table><thead><tr>${heads(order)}<td></td></tr></thead><tbody>${rows.join('')}</tbody></table>`) +
      `${last > 1 ? turning(order, page, last) : ''}</div>` +
      `<div class="side">${writable ? NEW_MEMBERS : ''}<aside class="card" id="drive"><h2>Open it as a drive</h2>` +
      '<p>What you save there is on the site at once.</p>' +
      `${mountAdvice(`${origin}${prefix}/`, system)}</aside></div></main>`,
  })
}

function inOrder(members: readonly Node[], { by, descending }: ListingOrder): readonly Node[] {
  const key = ({ resource }: Node) => (by === 'size' ? resource.size : shownSeconds(resource))
  const sorted = by === 'name' ? [...members] : members.toSorted((a, b) => key(a) - key(b))
  return descending ? sorted.reverse() : sorted
}

/** Links that sort: by another column, or by the same the other way round. */
function heads(order: ListingOrder): string {
  const cells = COLUMNS.map(([column, label]) => {
    const here = column === order.by
    const sorted = here ? ` aria-sort="${order.descending ? 'descending' : 'ascending'}"` : ''
    const turned = here && !order.descending
    const arrow = here ? (order.descending ? ' ↓' : ' ↑') : ''
    return `<th scope="col"${sorted}><a href="?sort=${column}${turned ? '&amp;order=desc' : ''}">${label}</a>${arrow}</th>`
  })
  return cells.join('')
}

function turning({ by, descending }: ListingOrder, page: number, last: number): string {
  const link = (to: number, text: string) =>
    to < 1 || to > last
      ? '<span></span>'
      : `<a href="?sort=${by}${descending ? '&amp;order=desc' : ''}&amp;page=${to}">${text}</a>`
  return `<p class="turn">${link(page - 1, 'Previous')}<span>Page ${page} of ${last}</span>${link(page + 1, 'Next')}</p>`
}

/** Forms of a browser for what else is PUT and MKCOL. */
const NEW_MEMBERS =
  '<section class="card forms"><h2>Add to this folder</h2>' +
  '<form method="post" enctype="multipart/form-data"><label>Files <input type="file" name="file" multiple required></label>' +
  '<button name="do" value="upload">Upload</button>' +
  '<label class="tick"><input type="checkbox" name="replace" value="yes"> Replace files of the same name</label></form>' +
  '<form method="post"><label>Folder <input name="name" required maxlength="255" autocomplete="off"></label>' +
  '<button name="do" value="folder">Make</button></form></section>'

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

function row(node: Node, listing: Listing): string {
  const { prefix } = listing
  const { resource } = node
  const { path, size } = resource
  const folder = isCollection(node)
  const end = folder ? path.length - 1 : path.length
  const name = escapeMarkup(path.slice(path.lastIndexOf('/', end - 1) + 1))
  const modified = new Date(shownSeconds(resource) * 1000).toISOString()
  const icon = folder ? 'folder' : 'file'
  // Programs that mirror a site by its links, such as lftp, know few character references.
  const href = escapeMarkup((prefix + encodePath(path)).replaceAll("'", '%27'))
  return (
    `<tr${folder ? ' class="folder"' : ''}><td><a href="${href}">` +
    `<svg aria-hidden="true"><use href="#${icon}"/></svg><span>${name}</span></a></td>` +
    `<td>${folder ? '' : `<span title="${number(size)} bytes">${sizeOf(size)}</span>`}</td>` +
    `<td><time datetime="${modified.slice(0, 19)}Z">${modified.slice(0, 16).replace('T', ' ')}</time></td>` +
    `<td>${deeds(node, name, listing)}</td></tr>`
  )
}

/** What can be done with a member, folded away. @param name markup */
function deeds({ resource, place }: Node, name: string, { pages, explain, writable }: Listing): string {
  const links = [
    // Opened on the mount, a page has neither scripts nor style: it is sandboxed (DAV-40).
    ...(place.isPublished ? [[`${pages}${encodePath(resource.path)}`, 'View on site']] : []),
    ...(explain === undefined ? [] : [[`${explain}?path=${encodeURIComponent(resource.path)}`, 'Who may do what']]),
  ].map(([href = '', text]) => `<a href="${escapeMarkup(href)}">${text}</a>`)
  const forms = writable
    ? [
        `<form method="post"><input type="hidden" name="member" value="${name}"><label>New name <input name="name" value="${name.replace(/\/$/, '')}" required maxlength="255" autocomplete="off"></label><button name="do" value="rename">Rename</button></form>`,
        `<form method="post"><input type="hidden" name="member" value="${name}"><label class="tick"><input type="checkbox" name="sure" value="yes" required> Yes, delete it${name.endsWith('/') ? ' with all in it' : ' for good'}</label><button class="danger" name="do" value="delete">Delete</button></form>`,
      ]
    : []
  if (links.length + forms.length === 0) return ''
  return `<details><summary aria-label="More about ${name}">More</summary><div>${[...links, ...forms].join('')}</div></details>`
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
