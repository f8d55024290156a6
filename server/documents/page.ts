/** The frame of pages that the server makes itself: complete, small, readable in light and dark, without scripts. */

import { escapeMarkup } from '../../pipeline/http/markup.ts'

const STYLE = `
:root{color-scheme:light dark;--text:#1d2330;--soft:#5a6375;--back:#f4f5f8;--card:#fff;--line:#dfe2ea;--accent:#2f5bd0}
@media(prefers-color-scheme:dark){:root{--text:#e7eaf2;--soft:#a2abbd;--back:#12151c;--card:#1b202a;--line:#2e3644;--accent:#8fb0ff}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:2rem 1rem;background:var(--back);color:var(--text);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{width:100%;max-width:38rem;padding:2.25rem clamp(1.25rem,6vw,2.25rem) 2rem;background:var(--card);border:1px solid var(--line);border-radius:.6rem;box-shadow:inset 0 .25rem var(--accent)}
h1{margin:0 0 .75rem;font-size:1.5rem;line-height:1.25;font-weight:650}
p,dl{margin:.6rem 0 0}
dt,.advice{color:var(--soft)}
dd{margin:0}
code,dd{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.92em;overflow-wrap:anywhere}
a{color:var(--accent)}
.actions{display:flex;flex-wrap:wrap;align-items:baseline;gap:.25rem 1.25rem}
a.action{display:inline-block;margin-top:.5rem;padding:.45rem 1rem;border-radius:.4rem;background:var(--accent);color:var(--card);text-decoration:none;font-weight:600}
a:focus-visible{outline:3px solid var(--accent);outline-offset:2px}`.replaceAll('\n', '')

/**
 * @param title plain text
 * @param content markup, placed inside `main`
 * @param bodyAttributes markup of attributes for `body`, such as those of a microdata item
 * @returns the document
 */
export function page(title: string, content: string, bodyAttributes = ''): string {
  return (
    '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">' +
    '<meta name="viewport" content="width=device-width, initial-scale=1">' +
    `<meta name="robots" content="noindex"><title>${escapeMarkup(title)}</title><style>${STYLE}</style></head>\n` +
    `<body${bodyAttributes === '' ? '' : ` ${bodyAttributes}`}><main>\n${content}\n</main></body></html>\n`
  )
}
