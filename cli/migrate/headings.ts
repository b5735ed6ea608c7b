import type { DatabaseAddress } from '../../lib/migrations/index.js'
import { commandLine } from '../../lib/text/command-line.js'
import { attempt } from './attempt.js'
import { connectionString } from './connection-string.js'

/** The first line that a command with a database prints on stderr. */
export type Heading = (database: DatabaseAddress) => string

interface Compared {
  readonly files: string
  readonly scratch?: string | undefined
}

/** Formats a database: `Database shop on localhost:5432, schema inventory`. MySQL has no schemas. */
export const databaseText: Heading = ({ name, server, schema }) =>
  `Database ${name} on ${server}${schema === undefined ? '' : `, schema ${schema}`}`

/** The heading of a command that changes a copy. */
export const copyText: Heading = (database) => `${databaseText(database)}: the copy, which is changed`

/** Returns the heading of `migrate check`, which works in scratch databases. */
export async function checkHeading({ files, scratch }: Compared): Promise<Heading> {
  const place = await scratchPlace(scratch)
  return (database) =>
    `Checks the files of ${files} for ${database.dialect} in ${place(database)}. ${unchanged(database)}`
}

/** Returns the heading of `migrate lint` with a database. */
export async function emptyCopyHeading({ files, scratch }: Compared): Promise<Heading> {
  const place = await scratchPlace(scratch)
  return (database) =>
    `Applies the files of ${files} to an empty copy in ${place(database)}. ${unchanged(database)}`
}

/** Returns the heading of `migrate diff`, which names both sides of the comparison. */
export async function diffHeading({
  files,
  entities,
  scratch,
  live,
}: Compared & { readonly entities: string; readonly live: boolean }): Promise<Heading> {
  const place = await scratchPlace(scratch)
  return (database) =>
    live
      ? `Compares the tables of the live database with those of ${entities} and with what the files of ${files} make, both in ${place(database)}. ${databaseText(database)}: nothing is changed in it`
      : `Compares what the files of ${files} make with the tables of ${entities}, both in ${place(database)}. ${unchanged(database)}`
}

const unchanged = (database: DatabaseAddress): string => `${databaseText(database)}: not changed`

/** Returns the description of the databases used for a comparison. */
async function scratchPlace(scratch: string | undefined): Promise<Heading> {
  if (scratch === undefined)
    return ({ server }) => `scratch databases on ${server}, which are dropped afterwards`
  const { migrate } = await import('../../lib/migrations/index.js')
  const url = await connectionString(scratch, 'ASHLAR_SCRATCH_URL')
  const { database } = await attempt(() => Promise.resolve().then(() => migrate({ url, files: {} })), {
    command: commandLine,
  })
  const { name = '', server = '' } = database ?? {}
  return () => `the scratch database ${name} on ${server}`
}
