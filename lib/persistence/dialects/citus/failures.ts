/**
 * Failures of one server of a distributed database, derived from the coordinator's error:
 *
 * - `refused`: the server accepts no connection, so the statement did nothing;
 * - `lost`: the connection broke before the commit;
 * - `uncommitted`: the server's commit failed;
 * - `unroutable`: the coordinator cannot run the statement for all tenants.
 */
export type ServerFailure = 'refused' | 'lost' | 'uncommitted' | 'unroutable'

/** The messages of the coordinator. The codes alone are ambiguous. */
const TEXTS: readonly (readonly [ServerFailure, code: string, text: RegExp])[] = [
  [
    'refused',
    '08006',
    /^connection to the remote node \S+ failed with the following error: Connection refused/,
  ],
  ['lost', 'XX000', /^failure on connection marked as essential: /],
  ['unroutable', '0A000', /^(?:correlated subqueries are not|complex joins are only) supported when /],
  ['unroutable', '0A000', /^could not run distributed query with FOR UPDATE\/SHARE commands/],
  ['uncommitted', 'XX000', /^could not commit transaction for shard \d+ on /],
]

/** Returns the failure that an error describes, or undefined for other errors. */
export function serverFailure(error: unknown): ServerFailure | undefined {
  if (!(error instanceof Error) || !('code' in error) || !('severity' in error)) return undefined
  return TEXTS.find(([, code, text]) => error.code === code && text.test(error.message))?.[0]
}
