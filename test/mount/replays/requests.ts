/** Bodies and expectations that several clients share. */

/** A PROPFIND for some properties of `DAV:`, and of other namespaces as `{namespace}name`. */
export function propfind(...names: string[]): string {
  return `<?xml version="1.0" encoding="utf-8"?>\n<D:propfind xmlns:D="DAV:"><D:prop>${names.map(element).join('')}</D:prop></D:propfind>`
}

function element(name: string): string {
  const [, namespace, local] = /^\{(.*)\}(.*)$/.exec(name) ?? []
  return namespace === undefined ? `<D:${name}/>` : `<x:${local} xmlns:x="${namespace}"/>`
}

/** A request for an exclusive lock. @param owner XML content */
export function lockinfo(owner: string): string {
  return `<?xml version="1.0" encoding="utf-8"?>\n<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype><D:owner>${owner}</D:owner></D:lockinfo>`
}

export const XML = 'text/xml; charset="utf-8"'

/** The mount says what it is on every answer; Finder and Office look for it on some. */
export const IS_DAV = { dav: /\b1\b.*\b2\b/, 'ms-author-via': 'DAV' }

export const page = (text: string) => `<!doctype html>\n<title>${text}</title>\n<p>${text}\n`
