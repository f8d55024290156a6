/** As much of a browser as signing in needs: cookies, redirects that a test follows one by one, forms. */

export interface Page {
  url: URL
  status: number
  headers: Headers
  text: string
  /** Where it redirects to; undefined for other answers. */
  location: URL | undefined
}

export interface Browser {
  get(url: string | URL, headers?: Record<string, string>): Promise<Page>
  post(url: string | URL, form: Record<string, string>, headers?: Record<string, string>): Promise<Page>
  send(method: string, url: string | URL, headers?: Record<string, string>, body?: string): Promise<Page>
  /** Follows redirects until something else comes. */
  follow(page: Page, most?: number): Promise<Page>
  /** Value of a cookie that is kept for a host. */
  cookie(host: string, name: string): string | undefined
  setCookie(host: string, name: string, value: string): void
  /** Drops all cookies of a host. */
  forget(host: string): void
}

export function newBrowser(): Browser {
  const jars = new Map<string, Map<string, string>>()

  function jar(host: string): Map<string, string> {
    const found = jars.get(host) ?? new Map<string, string>()
    jars.set(host, found)
    return found
  }

  async function send(
    method: string,
    address: string | URL,
    headers: Record<string, string> = {},
    body?: string,
  ): Promise<Page> {
    const url = new URL(address)
    const cookies = [...jar(url.hostname)].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: { ...(cookies && { Cookie: cookies }), ...headers },
      ...(body !== undefined && { body }),
    })
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';', 1)
      const at = pair.indexOf('=')
      const [name, value] = [pair.slice(0, at), pair.slice(at + 1)]
      if (value === '' || /max-age=0|expires=thu, 01 jan 1970/i.test(line)) jar(url.hostname).delete(name)
      else jar(url.hostname).set(name, value)
    }
    const location = response.headers.get('location')
    return {
      url,
      status: response.status,
      headers: response.headers,
      text: await response.text(),
      location:
        location !== null && response.status >= 300 && response.status < 400 ? new URL(location, url) : undefined,
    }
  }

  return {
    send,
    get: (url, headers) => send('GET', url, headers),
    post: (url, form, headers) =>
      send(
        'POST',
        url,
        { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
        new URLSearchParams(form).toString(),
      ),
    async follow(page, most = 10) {
      let current = page
      for (let i = 0; current.location; i++) {
        if (i >= most) throw new Error(`redirected more than ${most} times: ${current.location}`)
        current = await send('GET', current.location)
      }
      return current
    },
    cookie: (host, name) => jars.get(host)?.get(name),
    setCookie: (host, name, value) => void jar(host).set(name, value),
    forget: host => void jars.delete(host),
  }
}

/** Address and hidden fields of the first form of a page. */
export function formOf(page: Page): { action: URL; fields: Record<string, string> } {
  const action = /<form[^>]* action="([^"]+)"/.exec(page.text)?.[1]
  if (action === undefined) throw new Error(`no form at ${page.url}: ${page.status} ${page.text.slice(0, 500)}`)
  const fields: Record<string, string> = {}
  for (const [, name, value] of page.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g))
    if (name !== undefined && value !== undefined) fields[name] = value
  return { action: new URL(action, page.url), fields }
}
