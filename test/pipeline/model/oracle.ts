/**
 * What a data model accepts, worked out slowly and straight from the specification, on plain data: no markup, no index, no
 * code of the server.
 */

export interface PropertyModel {
  name: string
  cardinality?: string
  /** A URL of `TYPES`, of an enumeration or of a schema. */
  type?: string
  unique: string[]
  references?: string
  cascade?: string
  /** Literal text. */
  default?: string
  group: string[]
}

export interface SchemaModel {
  type: string
  parent?: string
  properties: PropertyModel[]
  constraints: { group: string; cardinality?: string; properties: string[] }[]
}

export interface Model {
  schemas: SchemaModel[]
  enums: Record<string, string[]>
}

export interface ItemModel {
  types: string[]
  values: [name: string, value: string | ItemModel][]
}

/** Documents by path. */
export type State = ReadonlyMap<string, readonly ItemModel[]>

/** Primitive types by URL, with the values of the generator that they accept. */
export const TYPES: Readonly<Record<string, readonly string[]>> = {
  'https://schema.org/Text': ['', '1', 'a', 'b', 'true', '2031-05-04', '-7', '1.5', 'x:y'],
  'https://schema.org/Integer': ['1', '-7'],
  'https://schema.org/Number': ['1', '-7', '1.5'],
  'https://schema.org/Boolean': ['true'],
  'https://schema.org/Date': ['2031-05-04'],
  'https://schema.org/URL': ['x:y'],
}
export const VALUES = ['', '1', 'a', 'b', 'true', '2031-05-04', '-7', '1.5', 'x:y'] as const

/** The first failing step of MOD-112 with its failures; nothing when the document is accepted. */
export interface Refusal {
  step: 'values' | 'groups' | 'references' | 'unique'
  /** `check type property`, sorted; empty for steps that tell the first failure only. */
  failures: string[]
}

/** MOD-6: the first schema of a type. */
export function declared(model: Model, type: string): SchemaModel | undefined {
  return model.schemas.find(schema => schema.type === type)
}

/** MOD-12: leaf to root; `circle` when it never ends. */
export function chain(model: Model, type: string): { levels: SchemaModel[]; types: string[]; circle: boolean } {
  const levels: SchemaModel[] = []
  const types: string[] = []
  for (let next: string | undefined = type; next !== undefined; ) {
    if (types.includes(next)) return { levels, types, circle: true }
    types.push(next)
    const schema = declared(model, next)
    if (!schema) break
    levels.push(schema)
    next = schema.parent
  }
  return { levels, types, circle: false }
}

export function isa(model: Model, type: string, ancestor: string): boolean {
  return chain(model, type).types.includes(ancestor)
}

/** MOD-13: of each name the most derived declaration, the first within a schema. */
export function propertiesOf(model: Model, type: string): PropertyModel[] {
  const found: PropertyModel[] = []
  for (const level of chain(model, type).levels)
    for (const property of level.properties) if (!found.some(({ name }) => name === property.name)) found.push(property)
  return found
}

/** MOD-13: `unique` and `group` are unions over the chain. */
function union(model: Model, type: string, name: string, field: 'unique' | 'group'): string[] {
  const found: string[] = []
  for (const level of chain(model, type).levels) {
    const property = level.properties.find(each => each.name === name)
    for (const value of property?.[field] ?? []) if (!found.includes(value)) found.push(value)
  }
  return found
}

/** MOD-11: every item, wherever it stands. */
function allItems(items: readonly ItemModel[]): ItemModel[] {
  return items.flatMap(item => [
    item,
    ...allItems(item.values.flatMap(([, value]) => (typeof value === 'string' ? [] : [value]))),
  ])
}

function valuesOf(item: ItemModel, name: string): (string | ItemModel)[] {
  return item.values.filter(([each]) => each === name).map(([, value]) => value)
}

function texts(item: ItemModel, name: string): string[] {
  return valuesOf(item, name).filter((value): value is string => typeof value === 'string' && value !== '')
}

function fits(count: number, cardinality: string | undefined): boolean {
  if (cardinality === '1..1') return count === 1
  if (cardinality === '0..1') return count <= 1
  if (cardinality === '1..n') return count >= 1
  return true
}

/** MOD-25 to MOD-28. */
function wrongType(model: Model, type: string, value: string | ItemModel): 'type' | 'enum' | undefined {
  const permitted = model.enums[type]
  if (permitted) return typeof value === 'string' && permitted.includes(value) ? undefined : 'enum'
  if (declared(model, type))
    return typeof value !== 'string' && value.types.some(own => isa(model, own, type)) ? undefined : 'type'
  const accepted = TYPES[type]
  if (!accepted) return undefined
  return typeof value === 'string' && accepted.includes(value) ? undefined : 'type'
}

/** MOD-50. */
function isBroken(model: Model, references: string): boolean {
  const [type = '', property = ''] = references.split('#')
  if (!references.includes('#') || type === '' || property === '') return true
  if (!declared(model, type)) return false
  return (
    !propertiesOf(model, type).some(({ name }) => name === property) ||
    !union(model, type, property, 'unique').includes('true')
  )
}

function schemaFailures(model: Model, type: string): string[] {
  if (chain(model, type).circle) return [`schema ${type}`]
  return propertiesOf(model, type)
    .filter(({ references }) => references !== undefined && isBroken(model, references))
    .map(({ name }) => `schema ${type} ${name}`)
}

/** MOD-30: an item with the defaults of what it lacks; those of nested items, too. */
export function completed(model: Model, item: ItemModel): ItemModel {
  const values = item.values.map(([name, value]): ItemModel['values'][number] => [
    name,
    typeof value === 'string' ? value : completed(model, value),
  ])
  for (const type of item.types) {
    if (!declared(model, type) || chain(model, type).circle) continue
    for (const property of propertiesOf(model, type)) {
      const isAbsent = !values.some(([name]) => name === property.name)
      if (isAbsent && property.default) values.push([property.name, property.default])
    }
  }
  return { ...item, values }
}

/**
 * Whether a document may be stored.
 *
 * @param written items that the write affects; all of them when the whole document is written
 */
export function judge(
  model: Model,
  state: State,
  path: string,
  items: readonly ItemModel[],
  written: readonly ItemModel[] = items,
): Refusal | undefined {
  const affected = allItems(written)
  const governed = affected.flatMap(item =>
    item.types.filter(type => declared(model, type)).map(type => ({ item, type })),
  )

  const values = governed.flatMap(({ item, type }) => {
    const broken = schemaFailures(model, type)
    if (broken.length > 0) return broken
    return propertiesOf(model, type).flatMap(property => {
      const own = valuesOf(item, property.name)
      const wrong = own.flatMap(value => (property.type && wrongType(model, property.type, value)) || [])
      const counted = fits(own.length, property.cardinality) ? [] : ['cardinality']
      return [...counted, ...wrong].map(check => `${check} ${type} ${property.name}`)
    })
  })
  if (values.length > 0) return { step: 'values', failures: values.sort() }

  const groups = governed.flatMap(({ item, type }) => {
    const levels = chain(model, type).levels
    const names = [...new Set(levels.flatMap(level => level.constraints.map(({ group }) => group)))]
    return names.flatMap(group => {
      const constraint = levels.flatMap(level => level.constraints).find(each => each.group === group)
      const members = new Set([
        ...propertiesOf(model, type)
          .map(({ name }) => name)
          .filter(name => union(model, type, name, 'group').includes(group)),
        ...(constraint?.properties ?? []),
      ])
      const present = [...members].filter(name => valuesOf(item, name).length > 0).length
      return fits(present, constraint?.cardinality) ? [] : [`group ${type}`]
    })
  })
  if (groups.length > 0) return { step: 'groups', failures: groups.sort() }

  const after = new Map(state)
  after.set(path, items)
  const everything = [...after.values()].flatMap(allItems)
  for (const { item, type } of governed) {
    for (const { name, references } of propertiesOf(model, type)) {
      if (references === undefined) continue
      const [target = '', property = ''] = references.split('#')
      for (const value of texts(item, name)) {
        const found =
          declared(model, target) &&
          everything.some(
            other => other.types.some(own => isa(model, own, target)) && texts(other, property).includes(value),
          )
        if (!found) return { step: 'references', failures: [] }
      }
    }
  }

  for (const { item, type } of governed) {
    const others = everything.filter(other => other !== item && other.types.includes(type))
    const names = [...new Set(chain(model, type).levels.flatMap(level => level.properties.map(({ name }) => name)))]
    for (const name of names) {
      if (!union(model, type, name, 'unique').includes('true')) continue
      if (others.some(other => texts(other, name).some(value => texts(item, name).includes(value))))
        return { step: 'unique', failures: [] }
    }
    const composites = [...new Set(names.flatMap(name => union(model, type, name, 'unique')))].filter(g => g !== 'true')
    for (const group of composites) {
      const members = names.filter(name => union(model, type, name, 'unique').includes(group))
      const meets = (other: ItemModel) =>
        members.every(name => texts(other, name).some(value => texts(item, name).includes(value)))
      if (others.some(meets)) return { step: 'unique', failures: [] }
    }
  }
  return undefined
}
