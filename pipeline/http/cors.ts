/** Answers to pages of other origins (HTTP-165, CAP-10, DAV-5). */

/** What is granted to listed origins; fields left out are not sent. */
export interface CorsPolicy {
  /** Exact origins as browsers write them: `https://app.example`, without trailing slash. */
  origins: ReadonlySet<string>
  credentials: boolean
  expose?: string
  /** Preflights only. */
  methods: string
  /** Preflights only. */
  headers: string
  /** Preflights only; seconds. */
  maxAge: number
}

/**
 * @param origins the operator's list
 * @param brandHeader brand word as header names begin with it, such as `Platform`
 * @returns the policy of a site's public host
 */
export function publicCors(origins: Iterable<string>, brandHeader: string): CorsPolicy {
  return {
    origins: new Set(origins),
    credentials: true,
    expose: 'ETag, Last-Modified, Location, Link, Content-Range, Accept-Ranges, Allow, Accept-Query',
    methods: 'GET, HEAD, PUT, DELETE, POST, MOVE, PATCH, QUERY, OPTIONS',
    headers: `Accept, Authorization, Content-Type, Destination, Destination-Range, If-Match, If-None-Match, Last-Event-ID, Overwrite, Prefer, Range, ${brandHeader}-Connection`,
    maxAge: 600,
  }
}

/** Facts of a request. */
export interface CorsRequest {
  method: string
  /** The `Origin` field. */
  origin: string | undefined
  /** The `Access-Control-Request-Method` field. */
  requestedMethod: string | undefined
}

/** @returns the server's own fields that an answer carries: whoever gets one of them may read it */
export function ownFields(headers: Readonly<Record<string, unknown>>, brandHeader: string): string[] {
  return [`${brandHeader}-Matches`, `${brandHeader}-Findings`].filter(name => name in headers)
}

/**
 * @param own names of fields beside those of the policy that the page may read
 * @returns the `Access-Control-*` fields of an answer, or undefined for an origin that is not listed and for none. The
 *   caller adds `Origin` to `Vary` wherever a list exists.
 */
export function corsHeaders(
  policy: CorsPolicy,
  request: CorsRequest,
  own: readonly string[] = [],
): Record<string, string> | undefined {
  const { origin } = request
  // "null" is every sandboxed page at once, so listing it would list everybody.
  if (origin === undefined || origin === 'null' || !policy.origins.has(origin)) return undefined
  const headers: Record<string, string> = { 'Access-Control-Allow-Origin': origin }
  if (policy.credentials) headers['Access-Control-Allow-Credentials'] = 'true'
  if (policy.expose !== undefined) headers['Access-Control-Expose-Headers'] = [policy.expose, ...own].join(', ')
  if (!isPreflight(request)) return headers
  headers['Access-Control-Allow-Methods'] = policy.methods
  headers['Access-Control-Allow-Headers'] = policy.headers
  headers['Access-Control-Max-Age'] = String(policy.maxAge)
  return headers
}

/** @returns whether a browser asks for permission rather than for capabilities */
export function isPreflight({ method, origin, requestedMethod }: CorsRequest): boolean {
  return method === 'OPTIONS' && origin !== undefined && requestedMethod !== undefined
}
