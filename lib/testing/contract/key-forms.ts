/** The form of a type's keys. */
export interface Form {
  /** The key that a case calls so, in the order of the names. */
  readonly textOf: (name: string) => string
  /** The key of an entity that has none yet. */
  readonly none: '' | undefined
  /** True if every repository makes keys of the type. */
  readonly isIdentity: boolean
}

/** If the names are not keys: `a`, `b` … are the first numbers, and `k0`, `k1` … come after them. */
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

/** The form of which the resource takes keys. */
export const formOf = (isKey: (text: string) => boolean): Form =>
  FORMS.find(({ textOf }) => isKey(textOf('a'))) ?? TEXT
