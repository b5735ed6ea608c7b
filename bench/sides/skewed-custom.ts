import type { Side } from '../subject.js'
import { skewed } from './skewed-data.js'

/** The same operations, with a custom plan for every statement. */
export const setUp = (): Promise<Side> => skewed('-c plan_cache_mode=force_custom_plan')
