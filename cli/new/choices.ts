import { Failure } from '../errors/failure.js'
import type { DatabaseName } from './databases.js'

export const AUTHENTICATIONS = ['headers', 'oidc', 'dev-login'] as const

/** The choices for a new project. */
export interface Choices {
  /** The name of the npm package, such as `task-board`. */
  readonly name: string
  readonly database: DatabaseName
  /**
   * The authentication of callers: by headers that are trusted in development, by tokens of an identity
   * provider, or by a page for signing in at one.
   */
  readonly authentication: (typeof AUTHENTICATIONS)[number]
  readonly nest: boolean
}

/** Returns the package of the .proto files, such as `task_board`. */
export const protoPackage = (name: string): string => name.replaceAll('-', '_')

/** @throws {Failure} for a name that is not a valid npm package and protobuf package. */
export function checkName(name: string): void {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) || name.length > 60)
    throw new Failure(
      'input',
      `${name} cannot be the project's name: pass --name with lower-case letters, digits and single hyphens, beginning with a letter, at most 60 characters`,
    )
  if (RESERVED.has(protoPackage(name)))
    throw new Failure(
      'input',
      `${name} cannot be the project's name: packages with this name already exist; pass another --name`,
    )
}

/** Names of npm packages that the project installs, and of protobuf packages that its files import. */
const RESERVED = new Set(['ashlar', 'ashlar_annotations', 'buf', 'google', 'pg', 'typeorm', 'typescript'])
