/** `fetch` for answers of an identity provider: limited in size, and telling whether the network or the provider failed. */

/** Bytes; configurations and key sets are a few kilobytes. */
const LARGEST = 1024 * 1024

interface RequestParts {
  body?: BodyInit | null
  headers?: Record<string, string>
  method?: string
  redirect?: RequestRedirect
  signal?: AbortSignal
}

/**
 * @param failed called when no answer came, it was too large, or the provider answered that it is broken (5xx)
 * @returns a function as `fetch`
 */
export function boundedFetch(failed: () => void): (url: string, options: object) => Promise<Response> {
  return async (url, options: RequestParts) => {
    try {
      const response = await fetch(url, options)
      if (response.status >= 500) failed()
      const { status, headers } = response
      return new Response(await bounded(response), { status, headers })
    } catch (error) {
      failed()
      throw error
    }
  }
}

async function bounded(response: Response): Promise<Uint8Array<ArrayBuffer> | null> {
  if (!response.body) return null
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body) {
    size += chunk.length
    if (size > LARGEST) throw new TypeError(`The answer is larger than ${LARGEST} bytes`)
    chunks.push(chunk)
  }
  return size === 0 ? null : new Uint8Array(Buffer.concat(chunks))
}
