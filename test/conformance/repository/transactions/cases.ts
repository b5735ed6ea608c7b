import { draft, type Holder } from '../subject.js'

export class Stop extends Error {}

/** What the cases of transactions do with the specimens of the running backend. */
export const casesOf = (holder: Holder) => ({
  ids: async () => (await holder.subject.specimens.list()).items.map(({ id }) => id),
  make: (id: string, code = id) => holder.subject.specimens.create(draft({ id, code })),
})
