// Keeps a page in step with its document. A page that writes shows its own changes: it sends `token` with them, as
// {Brand}-Connection, and has `sent` pass on the answers; its `fetch` does both. What it adds inside the root has the attribute data-own.

/** Asks elements, never documents: in these an image or a form named as what they can do is found in its place. */
const top = (page = document) => inert.querySelector.call(page, '*')
const inert = new Document()
const parse = (text, type) => top(new DOMParser().parseFromString(text, type || 'text/html'))

/** Documents that the page is put together from, as its head names them: `<link rel="origin" href="/data/posts.html">`. */
const named = () => [...top().querySelectorAll('head>link[rel~=origin]')].map(a => a.getAttribute('href'))

/** @param root the page, or an element with an id; @param changed is told what came, and the tag of the first */
/** @param origins paths of documents that the page is put together from */
export function live({ root = top(), path = location.pathname, changed = () => {}, origins = named() } = {}) {
  const sources = []
  let lastId, seen, version, busy, again, composed, told
  // Till then events may be older than what was fetched.
  let until = 0
  const stream = {
    token: '',
    state: 'connecting',
    // Of what it writes, this page hears nothing, but other tabs do (EVT-55).
    fetch(input, init) {
      const request = new Request(input, init)
      if (stream.token) request.headers.set('{brand}-connection', stream.token)
      return stream.sent(fetch(request))
    },
    // What is fetched meanwhile may not have the change yet, or have it before the page shows it a second time.
    sent(answer) {
      // Nothing is like it where something is being fetched now.
      const was = version || {}
      return answer.finally(() => {
        if (version !== was) recover((seen = ''))
      })
    },
    close() {
      stream.state = 'closed'
      for (const source of sources) source.close()
    },
  }

  /** @param at 0 for the page itself; @param late is to be done when it is open */
  function open(path, at, late) {
    const source = (sources[at] = new EventSource(path))
    const on = (name, act) => source.addEventListener(name, act)
    const refused = () => source.readyState > 1
    on('reset', recover)
    on('error', () => {
      if (refused()) setTimeout(() => stream.state === 'closed' || open(path, at, recover), 1e4)
    })
    if (at) {
      // A change elsewhere is told of there; what the page makes of it only the server knows.
      on('mutation', recover)
      on('open', late)
      return
    }
    lastId = ''
    on('{brand}-connection', ({ data }) => {
      stream.token = data
      stream.state = 'open'
      // Only who returns is told what was missed.
      if (!lastId || Date.now() < until) recover()
    })
    on('mutation', event => apply(event).catch(recover))
    on('error', () => {
      stream.token = ''
      stream.state = refused() ? 'refused' : 'connecting'
      if (!refused() || told) return
      told = true
      console.warn(
        `live(): no stream of ${path}. On 401 or 403 add a rule: actor *, method GET, resource ${path}, action Allow. defaultGet won't do.`,
      )
    })
  }

  /** Fails where only the whole helps. */
  async function apply({ data, lastEventId }) {
    const [, head, body, foot] = /(.*?<div itemprop="body">)(.*)(<\/div>.*)/s.exec(data)
    const item = parse(head + foot)
    const field = name => item.querySelector(`[itemprop=${name}]`)?.textContent
    const find = name => top().querySelector(field(name))
    lastId = lastEventId
    seen = field('etag')
    // What was stored is not what the page shows of it.
    if (composed) return recover()
    if (Date.now() < until) return isKnown() || recover()
    const [method, place, target] = [field('method'), field('placement'), find('selector')]
    const anchor = method === 'MOVE' ? find('destination') : target
    const parent = /pend$/.test(place) ? anchor : anchor.parentElement
    const inside = root.contains(target) + root.contains(parent)
    if (!inside && !target.contains(root)) return
    if (inside < 2 || parent.matches('html')) throw Error()
    const holder = parent.cloneNode()
    holder.innerHTML = body
    holder.querySelectorAll('[data-own]').forEach(disown)
    const nodes = method === 'MOVE' ? [target] : [...holder.childNodes]
    const next = { before: anchor, after: anchor.nextSibling, prepend: anchor.firstChild, append: null }[place]
    if (/PUT|DELETE/.test(method)) anchor.replaceWith(...nodes)
    else if (next !== undefined) for (const node of nodes) put(parent, node, next)
    else throw Error()
    changed(
      nodes.filter(a => a.tagName),
      seen,
    )
  }

  /** All tags of one version have a part in common. */
  const isKnown = () => seen?.includes(version) && !(until = 0)

  async function recover() {
    again = true
    if (busy) return
    busy = true
    try {
      while (again) {
        version = again = false
        until = Infinity
        const [answer, text] = await fetch(path === location.pathname ? path + location.search : path, {
          cache: 'no-cache',
        })
          .then(async a => [a, await a.text()])
          .catch(() => [])
        if (!answer?.ok) break
        // In XHTML, tags may close themselves; what it follows may be HTML.
        const page = parse(text, /xml/.test(answer.headers.get('Content-Type')) && document.contentType)
        // Parsers without scripts take for elements what is text here: its styles would count.
        for (const it of page.querySelectorAll('noscript')) it.textContent = it.innerHTML
        until = Date.now() + 2000
        version = answer.headers.get('{brand}-Version')
        // Only what is served as it is stored has a date.
        composed = !answer.headers.has('Last-Modified')
        again = !isKnown() && again
        const now = root === top() ? page : page.querySelector(`#${CSS.escape(root.id)}`)
        if (!now || again) continue
        let news = [root]
        try {
          news = sync(root, now)
        } catch {
          // Something hides behind a name what is needed all the same.
          root.replaceChildren(...now.childNodes)
        }
        changed(news)
      }
    } finally {
      // What `changed` throws is its author's affair.
      busy = false
    }
  }

  for (const [at, each] of [path, ...origins].entries()) open(each, at)
  return stream
}

/** What is moved keeps its focus and state where browsers can do that. */
const put = (parent, node, next) =>
  parent[node.isConnected && parent.moveBefore ? 'moveBefore' : 'insertBefore'](node, next)

/** Without its content: fields of a form hide behind their names what a form can do (`<button name="remove">`). */
const bare = (it, whole) => inert.importNode(it, whole)
const isOwn = it => it.attributes?.['data-own']
/** What is stored is nobody's own, whatever it says of itself: a visitor may have written it. */
const disown = it => it?.removeAttribute('data-own')

/** Gives `old` the content of `now`; tells what is new. What stays is moved as little as can be: somebody may be typing. */
function sync(old, now, news = new Set()) {
  let rest = [...old.childNodes].filter(isOwn)
  const take = like => rest.splice(rest.findIndex(like) >>> 0, 1)[0]
  const same = node => take(o => bare(o).isEqualNode(bare(node)))
  for (const node of now.childNodes) if (isOwn(node)) [same(node), node].forEach(disown)
  rest = [...old.childNodes].filter(node => !isOwn(node))
  const pairs = [...now.childNodes].map(node => [node, same(node)])
  for (const pair of pairs) {
    const [node, same] = pair
    // Other attributes, set by its author or by scripts, are no reason to throw away what a visitor has typed.
    if (same || !bare(node).matches?.('body,main,form,details')) continue
    pair[1] = take(o => o.tagName === node.tagName && o.id === node.id)
    if (pair[1]) news.add(adopt(pair[1], node))
  }
  for (const node of rest) old.removeChild(node)
  let last
  for (const [node, kept] of pairs) {
    const mine = kept ?? bare(node, true)
    const first = last ? last.nextSibling : old.firstChild
    let next = first
    while (next && next !== mine && (!next.tagName || isOwn(next))) next = next.nextSibling
    if (next !== mine) put(old, mine, first)
    if (!kept) news.add(mine.tagName ? mine : old)
    // A copy as well: it has the marks of what is stored.
    sync(mine, node, news)
    last = mine
  }
  return [...news]
}

/** Gives an element the attributes of another; what a visitor opened stays open. */
function adopt(mine, node) {
  for (const { name } of [...mine.attributes])
    if (name !== 'open' && !node.hasAttribute(name)) mine.removeAttribute(name)
  for (const each of node.attributes) mine.setAttributeNode(each.cloneNode())
  return mine
}
