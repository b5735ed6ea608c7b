import type { Side } from '../subject.js'
import { engineOf, HookedTask, tasksOf } from './hooks-data.js'

/** With a listener before writes and one after reads. `?engine=` says where. */
export const setUp = (): Promise<Side> => tasksOf(HookedTask, false, engineOf(import.meta.url))
