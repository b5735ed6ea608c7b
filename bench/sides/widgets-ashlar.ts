import { listening } from './listening-widgets.js'

process.send?.({ ports: listening })
