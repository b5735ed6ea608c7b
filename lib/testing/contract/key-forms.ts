/** The format of keys of a certain type. */
export interface Form {
  /** Returns the key for a name in a test case. Keys sort in the order of the names. */
  readonly textOf: (name: string) => string
  /** The value of the key property before a repository generates a key. */
  readonly none: '' | undefined
  /** True if every repository generates keys of the type. */
  readonly isIdentity: boolean
}

/**
 * Returns an integer key for a name: `a`, `b` and so on are the first numbers, followed by `k0`, `k1` and so
 * on.
 */
const numberOf = (name: string): number => {
  if (name === 'missing') return 30_000
  return name.length === 1 ? name.charCodeAt(0) - 96 : 100 + Number(name.slice(1))
}

const TEXT: Form = { textOf: (name) => name, none: '', isIdentity: true }

const FORMS: readonly Form[] = [
  TEXT,
  { textOf: (name) => String(numberOf(name)), none: undefined, isIdentity: false },
  {
    textOf: (name) => `00000000-0000-7000-8000-${numberOf(name).toString(16).padStart(12, '0')}`,
    none: '',
    isIdentity: true,
  },
  {
    textOf: (name) => new Date(Date.UTC(2000, 0, numberOf(name))).toISOString().slice(0, 10),
    none: undefined,
    isIdentity: false,
  },
]

/** Returns the key format that the resource accepts. */
export const formOf = (isKey: (text: string) => boolean): Form =>
  FORMS.find(({ textOf }) => isKey(textOf('a'))) ?? TEXT
