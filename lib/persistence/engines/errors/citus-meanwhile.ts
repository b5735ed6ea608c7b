/**
 * A read failed, and the database has distributed its tables over several servers since the process last
 * asked. The same read succeeds in the form for several servers.
 */
export class DistributedMeanwhile extends Error {
  constructor(cause: unknown) {
    super('the tables of the database are on several servers now', { cause })
  }
}
