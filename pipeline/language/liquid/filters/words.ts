/** The words of `diceware` (LIQ-47): two open syllables each, so that every one can be read aloud and spelled. */

const CONSONANTS = 'bdghjklmnprtvz'
const VOWELS = 'aeiou'

const SYLLABLES = [...CONSONANTS].flatMap(consonant => [...VOWELS].map(vowel => consonant + vowel))

/** 4,900 of them: a little over twelve bits each. */
export const WORDS: readonly string[] = SYLLABLES.flatMap(first => SYLLABLES.map(second => first + second))
