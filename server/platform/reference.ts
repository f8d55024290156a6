/** The reference of this server as pages: the chapters of `docs/reference/`, with the names that the site itself uses. */

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { SiteSettings } from '../../config/sites.ts'
import { serverPage } from '../../edge/page.ts'
import { SERVER_PAGE_POLICY } from '../../edge/security-headers.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { type Conditions, evaluateRead, preconditionFailed } from '../../pipeline/http/conditions.ts'
import { lazyPackage } from '../../pipeline/lazy-package.ts'

/** How pages of the reference are laid out: for long texts, on narrow screens without sideways scrolling. */
const STYLE = `
body{background:var(--card);line-height:1.6}
main{max-width:46rem;margin:0 auto;padding:2rem 1.25rem 5rem}
svg{width:100%;height:auto}
nav{margin-bottom:1.5rem}
h1{margin:0 0 1rem;font-size:2rem;line-height:1.2}
h2{margin:2.5rem 0 .75rem;padding-top:.75rem;border-top:1px solid var(--line);font-size:1.35rem}
h3{margin:1.75rem 0 .5rem;font-size:1.1rem}
ul{padding-left:1.2rem}
li{margin:.35rem 0}
:not(pre)>code{padding:.05em .3em;border-radius:.25em;background:var(--tint)}
pre{margin:1rem 0;padding:.85rem 1rem;overflow-x:auto;border:1px solid var(--line);border-radius:.5rem;background:var(--back);line-height:1.45}
.table{overflow-x:auto}
table{border-collapse:collapse;margin:1rem 0}
th,td{padding:.35rem .8rem .35rem 0;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
a[id]{scroll-margin-top:1rem}
:target+strong{background:color-mix(in srgb,var(--accent) 22%,transparent)}`

const FOLDER = new URL('../../docs/reference/', import.meta.url)
const markdown = lazyPackage<typeof import('marked')>('marked')
const CONTENTS = 'README'

type Names = Pick<SiteSettings, 'brand' | 'ns' | 'schemaHost' | 'errorNs'>

interface Page {
  tag: string
  text: string
}

const made = new Map<string, Page>()

/**
 * A read below `/.{brand}/reference/`.
 *
 * @returns undefined where the site does not show the reference, and for any other path
 * @throws Fault 412
 */
export function referencePage(
  settings: Names & Pick<SiteSettings, 'reference'>,
  path: string,
  conditions: Conditions | undefined,
): Answer | undefined {
  const base = `/.${settings.brand}/reference`
  if (!settings.reference || (path !== base && !path.startsWith(`${base}/`))) return undefined
  // Links between chapters are relative, so the contents need the slash.
  if (path === base)
    return { status: 301, headers: { Location: `${base}/`, 'Cache-Control': 'no-cache' }, cookieless: true }
  const chapter = path.slice(base.length + 1)
  const page = pageOf(settings, chapter === '' ? CONTENTS : chapter)
  if (!page) return undefined
  const headers = { ETag: page.tag, 'Cache-Control': 'no-cache', 'Content-Security-Policy': SERVER_PAGE_POLICY }
  if (conditions) {
    const verdict = evaluateRead(conditions, { tag: page.tag })
    if (verdict === 412) throw preconditionFailed(page.tag)
    if (verdict !== 'proceed') return { status: 304, headers, cookieless: true }
  }
  return {
    status: 200,
    headers: { ...headers, 'Content-Type': 'text/html; charset=utf-8' },
    body: page.text,
    cookieless: true,
  }
}

function pageOf(names: Names, chapter: string): Page | undefined {
  const key = JSON.stringify([names.brand, names.ns, names.schemaHost, names.errorNs, chapter])
  let page = made.get(key)
  if (!page) {
    const source = read(chapter)
    if (source === undefined) return undefined
    const text = render(withNames(source, names), chapter)
    page = { tag: `"${createHash('sha256').update(text).digest('hex').slice(0, 48)}"`, text }
    made.set(key, page)
  }
  return page
}

/** Only names that the folder lists are read: what a client asks for never becomes a part of a path. */
function read(chapter: string): string | undefined {
  const files: string[] = readdirSync(FOLDER)
  const file = `${chapter}.md`
  return files.includes(file) ? readFileSync(new URL(file, FOLDER), 'utf8') : undefined
}

/** Pictures are part of the page: nothing that it names is loaded. */
function picture(file: string): string | undefined {
  return readdirSync(FOLDER).includes(file) ? readFileSync(new URL(file, FOLDER), 'utf8').trim() : undefined
}

function withNames(source: string, { brand, ns, schemaHost, errorNs }: Names): string {
  const capital = brand.charAt(0).toUpperCase() + brand.slice(1)
  return source
    .replaceAll('{brand}', brand)
    .replaceAll('{Brand}', capital)
    .replaceAll('{ns}', ns)
    .replaceAll('{error_ns}', errorNs)
    .replaceAll('{schema_host}', schemaHost)
}

function render(source: string, chapter: string): string {
  const title = /^# (.+)$/m.exec(source)?.[1] ?? 'Reference'
  const content = markdown()
    .marked.parse(source, { async: false })
    .replace(/href="([a-z-]+)\.md(#[A-Z0-9-]+)?"/g, 'href="$1$2"')
    .replace(/<img src="([a-z-]+\.svg)"[^<>]*>/g, (image, file: string) => picture(file) ?? image)
    .replaceAll('<table>', '<div class="table"><table>')
    .replaceAll('</table>', '</table></div>')
  const back = chapter === CONTENTS ? '' : '<nav><a href="./">Contents</a></nav>\n'
  return serverPage({ title, style: STYLE, content: `<main>\n${back}${content}</main>` })
}
