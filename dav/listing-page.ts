/** What a browser shows of a collection: its members as links, and how to mount it (DAV-40). */

import { escapeMarkup } from '../pipeline/http/markup.ts'
import { encodePath } from '../pipeline/http/path.ts'
import { shownSeconds } from '../pipeline/resource-tags.ts'
import type { Mount } from './mount.ts'
import { parentOf } from './overlay.ts'
import { isCollection, type Node } from './view.ts'

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}' +
  'table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #ddd}' +
  'td:nth-child(n+2),th:nth-child(n+2){text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}' +
  'a{color:#0645ad;text-decoration:none}a:hover{text-decoration:underline}p{color:#555}' +
  '@media(prefers-color-scheme:dark){body{color:#ddd;background:#1a1a1a}a{color:#8ab4f8}td,th{border-color:#444}p{color:#aaa}}'

/**
 * @param path of the collection
 * @param members as they are listed
 * @returns a complete page
 */
export function listingPage(path: string, members: readonly Node[], { prefix, settings }: Mount): string {
  const title = escapeMarkup(`${settings.title ?? settings.host} ${path}`)
  const up = path === '/' ? '' : row(prefix + encodePath(parentOf(path)), '../', '', '')
  const rows = members.map(node => memberRow(node, prefix)).join('')
  return (
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">' +
    `<title>${title}</title><style>${STYLE}</style></head><body><h1>${title}</h1>` +
    '<p>To edit these files as a drive, mount this address: in Finder with <em>Go › Connect to Server</em>, in Windows ' +
    'Explorer with <em>Map network drive</em>, in Linux file managers with <em>Connect to Server</em>.</p>' +
    '<table><thead><tr><th>Name</th><th>Size</th><th>Last modified</th></tr></thead>' +
    `<tbody>${up}${rows}</tbody></table></body></html>`
  )
}

function memberRow(node: Node, prefix: string): string {
  const { resource } = node
  const { path, size } = resource
  const end = path.endsWith('/') ? path.length - 1 : path.length
  const name = path.slice(path.lastIndexOf('/', end - 1) + 1)
  const modified = new Date(shownSeconds(resource) * 1000).toISOString().slice(0, 19).replace('T', ' ')
  return row(prefix + encodePath(path), name, isCollection(node) ? '' : String(size), `${modified} UTC`)
}

function row(href: string, name: string, size: string, modified: string): string {
  return `<tr><td><a href="${escapeMarkup(href)}">${escapeMarkup(name)}</a></td><td>${size}</td><td>${modified}</td></tr>`
}
