import pg from 'pg'
import { benchUrl } from './postgres-address.js'

/** Removes the rows that a side has written. */
export async function removeTenant(tenant: string): Promise<void> {
  const client = new pg.Client({ connectionString: benchUrl() })
  await client.connect()
  await client.query('DELETE FROM widgets WHERE account_id = $1', [tenant])
  await client.end()
}
