/** The tag by which a requester knows a composed page as a whole (HTTP-37). */

import type { Reader } from '../compose/reader.ts'
import { Fault } from '../fault.ts'
import { digestingText } from '../http/digest.ts'
import { isComposed, lookAt, type Representation, requireSound } from '../read/representation.ts'
import type { Site } from '../site/site.ts'
import type { StoredFile } from '../site/stored-file.ts'
import { contentTag } from '../store/tags.ts'
import { writingDocument } from '../tree/serialize.ts'
import type { Steps } from '../tree/steps.ts'

/** The tag that a whole GET of a composed page has; in steps. */
export function* composedTag({ tree }: Representation): Steps<string> {
  return contentTag(yield* digestingText(yield* writingDocument(tree)))
}

/** @returns undefined for what is served as it is stored, and for a page that cannot be put together */
export async function tagForReader(site: Site, file: StoredFile, reader: Reader): Promise<string | undefined> {
  if (!isComposed(site, file, reader)) return undefined
  try {
    return await lookAt(
      site,
      file.resource.path,
      function* ({ view }) {
        if (!view) return undefined
        requireSound(view)
        return yield* composedTag(view)
      },
      reader,
    )
  } catch (error) {
    // Nobody has a tag of it.
    if (error instanceof Fault) return undefined
    throw error
  }
}
