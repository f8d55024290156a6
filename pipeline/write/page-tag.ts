/** The tag by which a requester knows a composed page as a whole (HTTP-37). */

import type { Reader } from '../compose/reader.ts'
import { Fault } from '../fault.ts'
import { digestingText } from '../http/digest.ts'
import { isComposed, lookAt, requireSound } from '../read/representation.ts'
import type { Site } from '../site/site.ts'
import type { StoredFile } from '../site/stored-file.ts'
import { contentTag } from '../store/tags.ts'
import { writingDocument } from '../tree/serialize.ts'

/** @returns undefined for what is served as it is stored, and for a page that cannot be put together */
export async function pageTag(site: Site, file: StoredFile, reader: Reader): Promise<string | undefined> {
  if (!isComposed(site, file, reader)) return undefined
  try {
    return await lookAt(
      site,
      file.resource.path,
      function* ({ view }) {
        if (!view) return undefined
        requireSound(view)
        return contentTag(yield* digestingText(yield* writingDocument(view.tree)))
      },
      reader,
    )
  } catch (error) {
    // Nobody has a tag of it.
    if (error instanceof Fault) return undefined
    throw error
  }
}
