/** Members and subscripts, read and assigned (SES-41 to SES-43). */

import type { Steps } from '../../tree/steps.ts'
import { ElementValue, FixedDictionary, isDictionary, isList, LazyDictionary, type Value } from '../values.ts'
import { staticMember } from './classes.ts'
import { typeOf } from './comparison.ts'
import { type Evaluation, type Given, Pending, pausing, runtimeError, typeError, type Work } from './evaluation.ts'
import { OpenDictionary } from './host.ts'
import { propertyOf, setProperty } from './instances.ts'
import { ClassValue, TypeName } from './kinds.ts'
import { itemProperty } from './microdata.ts'
import { temporalMember, typeMember } from './temporal.ts'
import { TemporalValue } from './temporal-value.ts'

/** @param receiver not null */
export function member(receiver: Value, name: string, on: Evaluation): Given {
  if (receiver instanceof Map || receiver instanceof LazyDictionary) return receiver.get(name) ?? null
  if (receiver instanceof ElementValue) {
    return receiver.type === undefined ? new Pending(itemProperty(receiver, name, on)) : propertyOf(receiver, name, on)
  }
  if (receiver instanceof TemporalValue) return temporalMember(receiver, name)
  if (receiver instanceof TypeName) return typeMember(receiver, name)
  if (receiver instanceof ClassValue) return staticMember(receiver, name, on)
  throw typeError(`a ${typeOf(receiver)} has no member “${name}”`)
}

/** @param receiver not null */
export function indexed(receiver: Value, key: Value, on: Evaluation): Given {
  if (receiver !== null && isList(receiver)) {
    if (typeof key === 'bigint') return receiver.at(Number(key)) ?? null
    throw typeError(`a List is indexed by an Integer, not a ${typeOf(key)}`)
  }
  if (receiver instanceof ElementValue || (receiver !== null && isDictionary(receiver))) {
    if (typeof key === 'string') return member(receiver, key, on)
    throw typeError(`a ${typeOf(receiver)} is indexed by a String, not a ${typeOf(key)}`)
  }
  throw typeError(`a ${typeOf(receiver)} cannot be indexed`)
}

/** SES-37: a field of what is taken apart. */
export function field(value: Value, name: string, on: Evaluation): Given {
  if (value === null) return null
  if (isDictionary(value) || value instanceof ElementValue) return member(value, name, on)
  throw typeError(`a ${typeOf(value)} cannot be taken apart by names`)
}

/** `x.name = v`. @returns nothing of interest, with pauses where it is long */
export function setMember(target: Value, name: string, value: Value, on: Evaluation): Given {
  if (target instanceof Map && !(target instanceof FixedDictionary)) {
    checkKey(name)
    if (!target.has(name)) on.take(64)
    target.set(name, value)
  } else if (target instanceof OpenDictionary) {
    const work = target.setting(name, value)
    if (work) return new Pending(settingIn(work))
    target.set(name, value)
  } else if (target instanceof ElementValue && target.type !== undefined) return setProperty(target, name, value, on)
  else throw typeError(`nothing can be assigned to a member of ${nameOf(target)}`)
  return null
}

function* settingIn(work: Steps<void>): Work {
  yield* pausing(work)
  return null
}

/** Dictionaries of programs take values; one that is given, such as the header fields of a request, does not. */
function nameOf(target: Value): string {
  return isDictionary(target) ? 'this Dictionary, which is to be read' : `a ${typeOf(target)}`
}

/** UTF-16 code units of a key that a program makes: keys of one length beyond V8's 16,383 are looked up one after the other. */
const LONGEST_KEY = 4_096

/** @throws SesselError for a key that is too long */
export function checkKey(key: string): void {
  if (key.length > LONGEST_KEY) throw runtimeError(`a key is longer than ${LONGEST_KEY} characters`, 'limit')
}

export function setIndexed(target: Value, key: Value, value: Value, on: Evaluation): Given {
  if (typeof key !== 'string') throw typeError(`an entry is assigned by a String, not a ${typeOf(key)}`)
  return setMember(target, key, value, on)
}
