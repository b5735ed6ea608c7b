#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8'
import { main } from '../dist/lib/cli/main.js'

// It runs beside the programs of a developer: memory counts more than speed.
setFlagsFromString('--optimize-for-size')
await main(process.argv.slice(2))
