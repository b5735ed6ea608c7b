import type { FamilySubject } from './family-subject.js'

/**
 * A write that ends what a row refers to, and one that begins to refer to it. Each round has rows of its own.
 */
export interface Race {
  readonly name: string
  readonly prepare: (id: string) => Promise<unknown>
  readonly remove: (id: string) => Promise<unknown>
  readonly refer: (id: string) => Promise<unknown>
}

const LONG_AGO = new Date('2001-01-01')
const NOW = new Date('2026-01-01')
const EXPIRED = { expireTime: LONG_AGO } as const

/** @param of - the repositories. */
export const raceCases = (of: () => FamilySubject): readonly Race[] => {
  const projectWithout = (id: string) => of().projects.create({ id })
  const projectsAnd = async (id: string, more: (other: string) => Promise<unknown>) => {
    await projectWithout(id)
    await projectWithout(`${id}-other`)
    await more(`${id}-other`)
  }
  const job = (id: string, more: object = {}) => of().jobs.create({ id, code: id, ...more })
  return [...deletes(), ...removals(), ...purges(), ...undeletes()]

  /** Of rows that can be undeleted. */
  function deletes(): readonly Race[] {
    return [
      {
        name: 'restrict and create',
        prepare: job,
        remove: (id) => of().jobs.delete(id),
        refer: (id) => of().remarks.create({ id, jobId: id }),
      },
      {
        name: 'restrict and batch update',
        prepare: async (id) => {
          await job(id)
          await job(`${id}-other`)
          await of().remarks.create({ id, jobId: `${id}-other` })
        },
        remove: (id) => of().jobs.batchDelete([id]),
        refer: (id) => of().remarks.batchUpdate([{ key: id, entity: { jobId: id }, fieldMask: ['job_id'] }]),
      },
      {
        name: 'cascade and create',
        prepare: projectWithout,
        remove: (id) => of().projects.delete(id, { force: true }),
        refer: (id) => of().milestones.create({ id, projectId: id }),
      },
      {
        name: 'cascade and a child of a child',
        prepare: async (id) => {
          await projectWithout(id)
          await of().milestones.create({ id, projectId: id })
        },
        remove: (id) => of().projects.delete(id),
        refer: (id) => job(id, { milestoneId: id }),
      },
      {
        name: 'cascade and change',
        prepare: (id) => projectsAnd(id, (other) => of().milestones.create({ id, projectId: other })),
        remove: (id) => of().projects.delete(id),
        refer: (id) => of().milestones.update(id, { projectId: id }, ['project_id']),
      },
      {
        name: 'cascade and cascade over a common child',
        prepare: (id) =>
          projectsAnd(id, async (other) => {
            await of().milestones.create({ id, projectId: other })
            await job(id, { projectId: id, milestoneId: id })
          }),
        remove: (id) => of().projects.delete(id),
        refer: (id) => of().milestones.delete(id),
      },
      {
        name: 'set null and create',
        prepare: projectWithout,
        remove: (id) => of().projects.delete(id),
        refer: (id) => of().bookmarks.create({ id, projectId: id }),
      },
      {
        name: 'set null and change',
        prepare: (id) => projectsAnd(id, (other) => of().bookmarks.create({ id, projectId: other })),
        remove: (id) => of().projects.delete(id),
        refer: (id) => of().bookmarks.modify(id, () => ({ projectId: id })),
      },
    ]
  }

  /** Of rows that are gone at once. */
  function removals(): readonly Race[] {
    return [
      {
        name: 'removal and create',
        prepare: (id) => of().crates.create({ id }),
        remove: (id) => of().crates.delete(id),
        refer: (id) => of().bottles.create({ id, crateId: id }),
      },
      {
        name: 'removal and change',
        prepare: async (id) => {
          await of().crates.create({ id })
          await of().crates.create({ id: `${id}-other` })
          await of().bottles.create({ id, crateId: `${id}-other` })
        },
        remove: (id) => of().crates.delete(id),
        refer: (id) => of().bottles.update(id, { crateId: id }, ['crate_id']),
      },
      {
        name: 'removal and undelete',
        prepare: async (id) => {
          await of().crates.create({ id })
          await of().bottles.create({ id, crateId: id })
          await of().bottles.delete(id)
        },
        remove: (id) => of().crates.delete(id),
        refer: (id) => of().bottles.undelete(id),
      },
      {
        name: 'removal and create inside of the same resource',
        prepare: (id) => of().crates.create({ id }),
        remove: (id) => of().crates.delete(id),
        refer: (id) => of().crates.create({ id: `${id}-inner`, aroundId: id }),
      },
      {
        name: 'a refused removal and create',
        prepare: (id) => of().crates.create({ id }),
        remove: (id) => of().crates.batchDelete([id]),
        refer: (id) => of().stickers.create({ id, crateId: id }),
      },
    ]
  }

  function purges(): readonly Race[] {
    const purgeProjects = () => of().projects.purgeExpired(NOW)
    return [
      {
        name: 'purge and create of what cascades',
        prepare: (id) => of().projects.create({ id, ...EXPIRED }),
        remove: purgeProjects,
        refer: (id) => of().milestones.create({ id, projectId: id }),
      },
      {
        name: 'purge and create of what restricts',
        prepare: (id) => job(id, EXPIRED),
        remove: () => of().jobs.purgeExpired(NOW),
        refer: (id) => of().remarks.create({ id, jobId: id }),
      },
      {
        name: 'purge and change of what is set null',
        prepare: (id) =>
          projectsAnd(`${id}-un`, async (other) => {
            await of().projects.create({ id, ...EXPIRED })
            await of().bookmarks.create({ id, projectId: other })
          }),
        remove: purgeProjects,
        refer: (id) => of().bookmarks.update(id, { projectId: id }, ['project_id']),
      },
      {
        name: 'purge and change of what is removed',
        prepare: async (id) => {
          await of().crates.create({ id, ...EXPIRED })
          await of().crates.create({ id: `${id}-other` })
          await of().bottles.create({ id, crateId: `${id}-other` })
        },
        remove: () => of().crates.purgeExpired(NOW),
        refer: (id) => of().bottles.update(id, { crateId: id }, ['crate_id']),
      },
      {
        name: 'purge and undelete of a child',
        prepare: async (id) => {
          await of().projects.create({ id, ...EXPIRED })
          await of().milestones.create({ id, projectId: id })
          await of().milestones.delete(id)
        },
        remove: purgeProjects,
        refer: (id) => of().milestones.undelete(id),
      },
      {
        name: 'purge and undelete of the parent',
        prepare: async (id) => {
          await of().projects.create({ id, ...EXPIRED })
          await of().milestones.create({ id, projectId: id })
          await job(id, { milestoneId: id })
          await of().projects.delete(id)
        },
        remove: purgeProjects,
        refer: (id) => of().projects.undelete(id),
      },
    ]
  }

  function undeletes(): readonly Race[] {
    return [
      {
        name: 'restrict and undelete',
        prepare: async (id) => {
          await job(id)
          await of().remarks.create({ id, jobId: id })
          await of().remarks.delete(id)
        },
        remove: (id) => of().jobs.delete(id),
        refer: (id) => of().remarks.undelete(id),
      },
      {
        name: 'undelete of the parent and create',
        prepare: async (id) => {
          await projectWithout(id)
          await of().milestones.create({ id, projectId: id })
          await of().projects.delete(id)
        },
        remove: (id) => of().projects.undelete(id),
        refer: (id) => of().milestones.create({ id: `${id}-new`, projectId: id }),
      },
      {
        name: 'undelete of the parent and of a child',
        prepare: async (id) => {
          await projectWithout(id)
          await of().milestones.create({ id, projectId: id })
          await of().milestones.delete(id)
          await of().projects.delete(id)
        },
        remove: (id) => of().projects.undelete(id),
        refer: (id) => of().milestones.undelete(id),
      },
      {
        name: 'undelete of several and delete of what one of them refers to',
        prepare: (id) =>
          projectsAnd(id, async (other) => {
            await of().milestones.create({ id, projectId: other })
            await job(id, { projectId: id, milestoneId: id })
            await of().projects.delete(id)
          }),
        remove: (id) => of().milestones.delete(id),
        refer: (id) => of().projects.undelete(id),
      },
    ]
  }
}
