/** How pages of the reference look: for long texts, in light and dark, on narrow screens without sideways scrolling. */
export const STYLE = `
:root{color-scheme:light dark;--text:#1d2330;--soft:#5a6375;--back:#fff;--wash:#f2f4f8;--line:#dfe2ea;--accent:#2f5bd0}
@media(prefers-color-scheme:dark){:root{--text:#e7eaf2;--soft:#a2abbd;--back:#12151c;--wash:#1b202a;--line:#2e3644;--accent:#8fb0ff}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--back);color:var(--text);font:1rem/1.6 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:break-word}
main{max-width:46rem;margin:0 auto;padding:2rem 1.25rem 5rem}
nav{margin-bottom:1.5rem}
h1{margin:0 0 1rem;font-size:2rem;line-height:1.2}
h2{margin:2.5rem 0 .75rem;padding-top:.75rem;border-top:1px solid var(--line);font-size:1.35rem}
h3{margin:1.75rem 0 .5rem;font-size:1.1rem}
ul{padding-left:1.2rem}
li{margin:.35rem 0}
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.9em;overflow-wrap:anywhere}
:not(pre)>code{padding:.05em .3em;border-radius:.25em;background:var(--wash)}
pre{margin:1rem 0;padding:.85rem 1rem;overflow-x:auto;border:1px solid var(--line);border-radius:.5rem;background:var(--wash);line-height:1.45}
.table{overflow-x:auto}
table{border-collapse:collapse;margin:1rem 0}
th,td{padding:.35rem .8rem .35rem 0;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
a{color:var(--accent)}
a[id]{scroll-margin-top:1rem}
:target+strong{background:color-mix(in srgb,var(--accent) 22%,transparent)}
a:focus-visible{outline:3px solid var(--accent);outline-offset:2px}`.replaceAll('\n', '')
