/** What the mount shows of stored resources: their state and the tags made of it (DAV-52). */

export type { Body, Change, Property, Resource, StagedBlob } from '../store/store.ts'
export {
  addTo,
  contentTag,
  fileTag,
  line,
  listTag,
  memberSum,
  propertySum,
  shownSeconds,
  statTag,
  weight,
  ZERO,
} from '../store/tags.ts'
