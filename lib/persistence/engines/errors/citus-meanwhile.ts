/**
 * A read failed because the database has become distributed since the process last checked. The same read
 * succeeds in its distributed form.
 */
export class DistributedMeanwhile extends Error {
  constructor(cause: unknown) {
    super('the tables of the database are on several servers now', { cause })
  }
}
