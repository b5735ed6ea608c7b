#!/usr/bin/env node
import { main } from '../dist/lib/cli/main.js'

await main(process.argv.slice(2))
