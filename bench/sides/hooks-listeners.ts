import type { Side } from '../subject.js'
import { HookedTask, tasksOf } from './hooks-data.js'

/** With a listener before writes and one after reads. */
export const setUp = (): Promise<Side> => tasksOf(HookedTask, false)
