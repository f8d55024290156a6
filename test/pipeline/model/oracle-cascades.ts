/** What becomes of referrers when values go or change (MOD-52 to MOD-56), worked out slowly on plain data. */

import {
  chain,
  completed,
  declared,
  type ItemModel,
  isa,
  judge,
  type Model,
  type PropertyModel,
  propertiesOf,
  type Refusal,
} from './oracle.ts'

/** Documents by path, as lists of items without items in them. */
export type Shelves = Map<string, ItemModel[]>

/** One write: what the document holds afterwards, and which of its items are new, or stand where old ones stood. */
export interface WriteModel {
  path: string
  /** Undefined: the document goes. */
  items: ItemModel[] | undefined
  /** Items that the write brought, among `items`. */
  written: ItemModel[]
  /** Items that are the same before and after (MOD-55). */
  pairs: [before: ItemModel, after: ItemModel][]
}

interface Referring {
  type: string
  property: PropertyModel
}

interface Loss {
  types: string[]
  property: string
  value: string
  to: string | undefined
}

/** Properties of every schema that refer to exactly this property of this type. */
function referrersOf(model: Model, target: string, property: string): Referring[] {
  return [...new Set(model.schemas.map(({ type }) => type))].flatMap(type =>
    propertiesOf(model, type)
      .filter(({ references }) => references === `${target}#${property}`)
      .map(each => ({ type, property: each })),
  )
}

function textsOf(item: ItemModel, name: string): string[] {
  return item.values.flatMap(([own, value]) =>
    own === name && typeof value === 'string' && value !== '' ? [value] : [],
  )
}

/** Values that a document held and holds no more. */
function lossesOf(model: Model, before: readonly ItemModel[], after: readonly ItemModel[], pairs: WriteModel['pairs']) {
  const losses: Loss[] = []
  for (const item of before) {
    for (const type of item.types) {
      for (const name of new Set(item.values.map(([own]) => own))) {
        for (const value of textsOf(item, name)) {
          if (after.some(other => other.types.includes(type) && textsOf(other, name).includes(value))) continue
          losses.push({
            types: chain(model, type).types,
            property: name,
            value,
            to: changeOf(type, name, value, pairs),
          })
        }
      }
    }
  }
  return losses
}

/** MOD-55: the one value that the same item has instead. */
function changeOf(type: string, name: string, value: string, pairs: WriteModel['pairs']): string | undefined {
  for (const [before, after] of pairs) {
    if (!before.types.includes(type) || !after.types.includes(type) || !textsOf(before, name).includes(value)) continue
    const gone = textsOf(before, name).filter(each => !textsOf(after, name).includes(each))
    const come = textsOf(after, name).filter(each => !textsOf(before, name).includes(each))
    if (new Set(gone).size === 1 && new Set(come).size === 1) return come[0]
  }
  return undefined
}

/**
 * @returns the state after the write and all its effects; or why it is refused: what is wrong with the write itself, or
 *   `conflict`
 */
export function follow(model: Model, state: Shelves, write: WriteModel): Shelves | Refusal | 'conflict' {
  const { path, items, written } = write
  const refusal = items && judge(model, state, path, items, written)
  if (refusal) return refusal
  const after: Shelves = new Map(state)
  if (items) after.set(path, items)
  else after.delete(path)
  const changed = new Map<string, Set<ItemModel>>([[path, new Set(written)]])
  const losses = lossesOf(model, state.get(path) ?? [], items ?? [], write.pairs)
  const done = new Set<string>()
  // All that is lost at once is followed at once: what forbids it counts whatever else goes.
  while (losses.length > 0) {
    const ended: [target: string, loss: Loss][] = []
    for (const loss of losses.splice(0)) {
      for (const target of loss.types) {
        const key = JSON.stringify([target, loss.property, loss.value])
        if (done.has(key) || stands(model, after, target, loss)) continue
        done.add(key)
        if (isRestricted(model, after, target, loss)) return 'conflict'
        ended.push([target, loss])
      }
    }
    for (const [target, loss] of ended) settle(model, after, path, target, loss, changed, losses)
  }
  for (const [other, touched] of changed) {
    const held = after.get(other)
    if (!held || (other !== path && touched.size === 0)) continue
    // What an effect has taken may have a default (MOD-30).
    const full = held.map(item => (touched.has(item) && !written.includes(item) ? completed(model, item) : item))
    after.set(other, full)
    const affected = full.filter((_, i) => touched.has(held[i] as ItemModel))
    changed.set(other, new Set(affected))
  }
  for (const [other, touched] of changed) {
    const held = after.get(other)
    if (held && judge(model, after, other, held, [...touched])) return 'conflict'
  }
  return after
}

/** MOD-52: whether another item holds the value that was lost. */
function stands(model: Model, after: Shelves, target: string, { property, value }: Loss): boolean {
  if (!declared(model, target)) return false
  return [...after.values()]
    .flat()
    .some(item => item.types.some(type => isa(model, type, target)) && textsOf(item, property).includes(value))
}

function isReferring(item: ItemModel, { type, property }: Referring, value: string): boolean {
  return item.types.includes(type) && textsOf(item, property.name).includes(value)
}

/** MOD-52: one property that says so makes all of them forbid it. */
function isRestricted(model: Model, after: Shelves, target: string, { property, value }: Loss): boolean {
  const referrers = referrersOf(model, target, property)
  if (!referrers.some(({ property: { cascade } }) => cascade === 'restrict')) return false
  return [...after.values()].flat().some(item => referrers.some(referrer => isReferring(item, referrer, value)))
}

function settle(
  model: Model,
  after: Shelves,
  own: string,
  target: string,
  { property, value, to }: Loss,
  changed: Map<string, Set<ItemModel>>,
  losses: Loss[],
): void {
  for (const referrer of referrersOf(model, target, property)) {
    const { property: referring } = referrer
    if (referring.cascade !== 'true') continue
    for (const [path, items] of [...after].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (!items.some(item => isReferring(item, referrer, value))) continue
      const pairs: WriteModel['pairs'] = []
      const touched = changed.get(path) ?? new Set()
      changed.set(path, touched)
      const kept = items.flatMap(item => {
        if (!isReferring(item, referrer, value)) return [item]
        const changedItem = withoutValue(item, referring, value, to)
        if (touched.delete(item) || changedItem) touched.delete(item)
        if (!changedItem) return []
        touched.add(changedItem)
        pairs.push([item, changedItem])
        return [changedItem]
      })
      // MOD-54: the document goes with its last item, unless it is the one that is written.
      if (kept.length === 0 && path !== own) after.delete(path)
      else after.set(path, kept)
      losses.push(...lossesOf(model, items, kept, pairs))
    }
  }
}

/** MOD-54 and MOD-55 for one item; undefined when it goes. */
function withoutValue(
  item: ItemModel,
  { name, cardinality }: PropertyModel,
  value: string,
  to: string | undefined,
): ItemModel | undefined {
  const isMatch = ([own, each]: ItemModel['values'][number]) => own === name && each === value
  if (to !== undefined) return { ...item, values: item.values.map(each => (isMatch(each) ? [name, to] : each)) }
  const count = item.values.filter(([own]) => own === name).length
  const goes = cardinality === '1..1' || (cardinality === '1..n' && item.values.filter(isMatch).length === count)
  return goes ? undefined : { ...item, values: item.values.filter(each => !isMatch(each)) }
}
