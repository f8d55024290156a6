/** The settings of a site as the pipeline needs them. */

import type { SiteSettings } from '../config/sites.ts'
import type { PipelineSettings } from '../pipeline/site/site.ts'

export function pipelineSettings(settings: SiteSettings): PipelineSettings {
  const { host, brand, ns, errorNs, schemaHost, defaultGet, maxBody, maxDocument } = settings
  return { host, brand, ns, errorNs, schemaHost, defaultGet, maxBody, maxDocument }
}
