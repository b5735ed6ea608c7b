import type { Side } from '../subject.js'
import { engineOf, HookedTask, tasksOf } from './hooks-data.js'

/** A listener before writes and one after reads. `?engine=` selects the database. */
export const setUp = (): Promise<Side> => tasksOf(HookedTask, false, engineOf(import.meta.url))
