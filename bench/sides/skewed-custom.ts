import type { Side } from '../subject.js'
import { skewed } from './skewed-data.js'

/** The same, where the server plans every statement for its values. */
export const setUp = (): Promise<Side> => skewed('-c plan_cache_mode=force_custom_plan')
