/** How pages of the reference are laid out: for long texts, on narrow screens without sideways scrolling. */
export const STYLE = `
body{background:var(--card);line-height:1.6}
main{max-width:46rem;margin:0 auto;padding:2rem 1.25rem 5rem}
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
