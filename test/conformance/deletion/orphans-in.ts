import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { type FamilySubject, inAcme } from './family-subject.js'

interface Row extends Readonly<Record<string, unknown>> {
  readonly id: string
  readonly deleteTime?: Date
}

/**
 * Live rows that refer to one that is not live, and deleted ones that refer to one that is not there at all.
 */
export async function orphansIn(family: FamilySubject): Promise<string[]> {
  const { projects, milestones, jobs, remarks, bookmarks, crates, bottles, stickers } =
    family as unknown as Record<keyof FamilySubject, Repository<object>>
  const edges = [
    [milestones, 'projectId', projects],
    [jobs, 'projectId', projects],
    [jobs, 'milestoneId', milestones],
    [jobs, 'aboveId', jobs],
    [remarks, 'jobId', jobs],
    [bookmarks, 'projectId', projects],
    [crates, 'aroundId', crates],
    [bottles, 'crateId', crates],
    [stickers, 'crateId', crates],
  ] as const
  const rows = new Map<Repository<object>, ReadonlyMap<string, Row>>()
  for (const repository of new Set(edges.flatMap(([child, , parent]) => [child, parent])))
    rows.set(repository, new Map((await allOf(repository)).map((row) => [row.id, row])))
  return edges.flatMap(([children, property, parents]) =>
    [...(rows.get(children)?.values() ?? [])].flatMap((row) => {
      const to = row[property] as string | undefined
      if (to === undefined) return []
      const parent = rows.get(parents)?.get(to)
      const isLive = row.deleteTime === undefined
      const isKept = isLive ? parent !== undefined && parent.deleteTime === undefined : parent !== undefined
      return isKept ? [] : [`${isLive ? 'live' : 'deleted'} ${children.model.type} ${row.id} → ${to}`]
    }),
  )
}

async function allOf(repository: Repository<object>): Promise<Row[]> {
  const found: Row[] = []
  for (let pageToken = ''; ;) {
    const page = await inAcme(() => repository.list({ pageSize: 1000, pageToken, showDeleted: true }))
    found.push(...(page.items as Row[]))
    if ((pageToken = page.nextPageToken) === '') return found
  }
}
