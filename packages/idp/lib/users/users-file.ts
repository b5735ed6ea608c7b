import { LiveFile, type Parsed } from '../files/live-file.js'
import { isMapping, type YamlValue, yamlText } from '../files/yaml-text.js'
import type { User } from './user.js'

const KEYS = ['sub', 'name', 'email', 'tenant', 'groups', 'scopes']
const CONTROL = /\p{Cc}/u
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/
const LONGEST_SUB = 255

export type Users = ReadonlyMap<string, User>

/**
 * Returns the users of a file by `sub`, in the order of the file. A missing file counts as an invalid edit,
 * because an editor may be about to write it.
 */
export const usersFile = (path: string, shown: string, report?: (problem: string) => void): LiveFile<Users> =>
  new LiveFile<Users>(
    path,
    shown,
    new Map(),
    (text) => {
      if (text === undefined) throw new TypeError('there is no such file')
      return parseUsers(text)
    },
    report,
  )

/**
 * @throws Error if one of the users is invalid.
 */
export function parseUsers(text: string): Parsed<Users> {
  const list = yamlText(text)
  if (!Array.isArray(list))
    throw new TypeError('it is not a list of users: begin each one with "- sub: ", or write []')
  const users = new Map<string, User>()
  const problems: string[] = []
  list.forEach((entry: YamlValue, index) => {
    const user = userOf(entry, `entry ${index + 1}`, problems)
    if (users.has(user.sub)) throw new TypeError(`two users have the sub "${user.sub}"`)
    users.set(user.sub, user)
  })
  return { value: users, problems }
}

function userOf(entry: YamlValue, where: string, problems: string[]): User {
  if (!isMapping(entry))
    throw new TypeError(`${where} is not a user: write "- sub: alice" and its other keys`)
  for (const key of Object.keys(entry))
    if (!KEYS.includes(key)) problems.push(`${where}: "${key}" is ignored; the keys are ${KEYS.join(', ')}`)
  const text = (key: string): string => {
    const value = entry[key] ?? ''
    if (typeof value !== 'string') throw new TypeError(`${where}: ${key} is not a string`)
    if (CONTROL.test(value)) throw new TypeError(`${where}: ${key} contains control characters`)
    return value
  }
  const sub = text('sub')
  if (sub === '') throw new TypeError(`${where} has no sub`)
  if (sub.length > LONGEST_SUB) throw new TypeError(`${where}: sub is longer than ${LONGEST_SUB} characters`)
  const scopes = (entry['scopes'] ?? null) === null ? undefined : words(entry['scopes'], `${where}: scopes`)
  const wrong = scopes?.find((scope) => !SCOPE.test(scope))
  if (wrong !== undefined) throw new TypeError(`${where}: "${wrong}" is not a scope`)
  return {
    sub,
    name: text('name') || sub,
    email: text('email'),
    tenant: text('tenant'),
    groups: (entry['groups'] ?? null) === null ? [] : words(entry['groups'], `${where}: groups`),
    scopes,
  }
}

/** Parses a list of strings, or a string of words. */
function words(value: YamlValue | undefined, where: string): readonly string[] {
  const list = typeof value === 'string' ? value.split(/\s+/) : value
  if (!Array.isArray(list)) throw new TypeError(`${where} is not a list`)
  return list.flatMap((word: YamlValue) => {
    if (typeof word !== 'string') throw new TypeError(`${where} has an entry that is not a string`)
    if (CONTROL.test(word)) throw new TypeError(`${where} contains control characters`)
    return word === '' ? [] : [word]
  })
}

/** The initial users: two of one tenant, and one of another. */
export const STARTER_USERS = `# Whom one can be on this machine. Edit it while the provider runs: every request reads it again.
# scopes bound what a token of the user may have. Without them, any are allowed.
- sub: alice
  name: Alice Archer
  email: alice@acme.test
  tenant: acme
  groups: [staff, admin]
  scopes: [read, write]
- sub: bob
  name: Bob Baker
  email: bob@acme.test
  tenant: acme
  groups: [staff]
  scopes: [read]
- sub: carol
  name: Carol Cook
  email: carol@globex.test
  tenant: globex
  groups: [staff]
  scopes: [read, write]
`
